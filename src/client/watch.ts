// A device's lasting session: it reconnects after every loss, from the device's position.
// (decisions.md 10)
//
//   connecting ─▶ open ── lost, goaway, silence, failed handler ──▶ waiting ─▶ connecting
//                  └── replaced, refused, closed by the caller: the end
//
// Invariants:
//   watch/1. One session at a time, and the next one begins when the last handler of the one before
//     is done.
//   watch/2. Delays grow and are random; they begin anew once a session has delivered something.
//   watch/3. `replaced` and refused credentials end the watch: reconnecting would only end the
//     newer session or be refused again.

import type { ChannelId, DeviceKey } from '#domain/identity'
import { parseDeviceKey } from '#domain/identity'
import { HELLO_CURSORS_MAX, PROTOCOL, WSS_PATH, encodeDeviceFrame } from '#src/schemas/frames'
import type { GatewayFrame } from '#src/schemas/frames'
import { readGatewayFrame } from '#src/schemas/read-frames'
import { HeliographError } from './error.ts'
import { Intake } from './intake.ts'
import type { Handlers } from './intake.ts'
import { WEB, backoffMs } from './runtime.ts'
import type { ClientRuntime } from './runtime.ts'

export interface WatchOptions extends Handlers {
  readonly baseUrl: string
  /** A secret. */
  readonly deviceKey: string
  /** The gateway token, a secret. */
  readonly token?: string | undefined
  /** The device's positions; other channels resume from what they acknowledged. */
  readonly cursors?: ReadonlyMap<ChannelId, number>
  /** The name of the device's software. */
  readonly client?: string
  /**
   * Told when the connection changes and when a handler fails. An error that it throws is reported
   * as an uncaught one, and the watch goes on.
   */
  readonly onState?: (state: WatchState) => void
  readonly runtime?: ClientRuntime
}

export type WatchState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open'; readonly sessionId: string }
  /** `error`: what a handler threw; the entry comes again. */
  | {
      readonly kind: 'waiting'
      readonly delayMs: number
      readonly reason: string
      readonly error?: unknown
    }

/** Why a watch ended for good. */
export type WatchEnd =
  | { readonly kind: 'closed' }
  | { readonly kind: 'replaced' }
  | { readonly kind: 'refused'; readonly error: HeliographError }

export interface Watch {
  /** Resolves when the watch is over; never rejects. */
  readonly ended: Promise<WatchEnd>
  /** The position in each channel: everything up to there was handled. */
  readonly cursors: ReadonlyMap<ChannelId, number>
  /** Ends the watch once the running handler is done and its entry acknowledged. */
  close(): Promise<void>
}

const BACKOFF = { firstMs: 500, maxMs: 30_000 }
const WELCOME_WITHIN_MS = 15_000
/** Refusals that no later attempt overcomes. (watch/3) */
const FINAL: ReadonlySet<string> = new Set(['device_key_not_found', 'authentication_failed'])

/** Opens the session of a device and keeps it. Throws TypeError for an option of the wrong form. */
export function watch(options: WatchOptions): Watch {
  const deviceKey = parseDeviceKey(options.deviceKey)
  if (deviceKey === undefined) throw new TypeError('a device key is 32 lower-case hex digits')
  const url = `${options.baseUrl.replace(/\/+$/, '').replace(/^http/i, 'ws')}${WSS_PATH}`
  // `localhost:8080` is a URL too, of a scheme that no socket has.
  if (!/^wss?:/i.test(url) || !URL.canParse(url))
    throw new TypeError('the base URL is not a valid URL')
  return new Watcher(options, deviceKey, url)
}

/** How one session ended. */
type Loss =
  | { readonly kind: 'end'; readonly end: WatchEnd }
  | {
      readonly kind: 'again'
      readonly reason: string
      readonly afterMs?: number | undefined
      readonly error?: unknown
    }

class Watcher implements Watch {
  readonly ended: Promise<WatchEnd>
  readonly cursors: Map<ChannelId, number>
  readonly #options: WatchOptions
  readonly #deviceKey: DeviceKey
  readonly #url: string
  readonly #runtime: ClientRuntime
  #attempt = 0
  #isClosing = false
  /** Ends the session, or the wait for the next one. */
  #interrupt: () => void = () => {}

  constructor(options: WatchOptions, deviceKey: DeviceKey, url: string) {
    this.#options = options
    this.#deviceKey = deviceKey
    this.#url = url
    this.#runtime = options.runtime ?? WEB
    this.cursors = new Map(options.cursors)
    this.ended = this.#run()
  }

  async close(): Promise<void> {
    this.#isClosing = true
    this.#interrupt()
    await this.ended
  }

  #tell(state: WatchState): void {
    try {
      this.#options.onState?.(state)
    } catch (error) {
      this.#runtime.report(error)
    }
  }

  async #run(): Promise<WatchEnd> {
    while (!this.#isClosing) {
      this.#tell({ kind: 'connecting' })
      if (this.#isClosing) break // by the handler
      const loss = await this.#session() // watch/1
      if (loss.kind === 'end') return loss.end
      if (this.#isClosing) break
      await this.#wait(loss)
    }
    return { kind: 'closed' }
  }

  /** watch/2 */
  async #wait({
    reason,
    afterMs,
    error,
  }: Extract<Loss, { readonly kind: 'again' }>): Promise<void> {
    const jittered = backoffMs(this.#runtime, this.#attempt, BACKOFF)
    this.#attempt += 1
    const delayMs = afterMs === undefined ? jittered : afterMs + (afterMs > 0 ? 0 : jittered)
    this.#tell({
      kind: 'waiting',
      delayMs,
      reason,
      ...(error !== undefined && { error }),
    })
    if (this.#isClosing) return // by the handler
    await new Promise<void>((resolve) => {
      const cancel = this.#runtime.after(delayMs, resolve)
      this.#interrupt = () => {
        cancel()
        resolve()
      }
    })
  }

  /** One session, from the connection to its loss. */
  async #session(): Promise<Loss> {
    const { promise, resolve: lose } = Promise.withResolvers<Loss>()
    const socket = this.#runtime.openSocket(this.#url, PROTOCOL)
    const send = (text: string): void => {
      if (socket.readyState === socket.OPEN) socket.send(text)
    }
    const intake = new Intake({
      handlers: this.#options,
      runtime: this.#runtime,
      cursors: this.cursors,
      send,
      handled: () => {
        this.#attempt = 0 // watch/2
      },
      failed: (error) => lose({ kind: 'again', reason: 'handler failed', error }),
    })
    const watchdog = new Watchdog(this.#runtime, () => lose({ kind: 'again', reason: 'silence' }))
    this.#interrupt = () => lose({ kind: 'end', end: { kind: 'closed' } })

    socket.addEventListener('open', () => send(this.#hello()))
    socket.addEventListener('close', () => lose({ kind: 'again', reason: 'connection lost' }))
    socket.addEventListener('error', () => lose({ kind: 'again', reason: 'connection failed' }))
    socket.addEventListener('message', ({ data }) => {
      watchdog.heard()
      const frame = typeof data === 'string' ? readGatewayFrame(data) : undefined
      if (frame !== undefined) this.#received(frame, { intake, send, lose, watchdog })
    })
    const loss = await promise
    watchdog.stop()
    await intake.end() // watch/1
    socket.close(1000)
    return loss
  }

  #received(
    frame: GatewayFrame,
    {
      intake,
      send,
      lose,
      watchdog,
    }: {
      readonly intake: Intake
      readonly send: (text: string) => void
      readonly lose: (loss: Loss) => void
      readonly watchdog: Watchdog
    },
  ): void {
    switch (frame.kind) {
      case 'ping':
        send(encodeDeviceFrame({ kind: 'pong', mark: frame.mark }))
        return
      case 'goaway':
        lose(lossOf(frame)) // watch/3
        return
      case 'error':
        if (FINAL.has(frame.code)) lose(refusedWith(frame)) // watch/3
        return
      case 'welcome':
        watchdog.expectWithin(frame.idleMs)
        this.#tell({ kind: 'open', sessionId: frame.sessionId })
        break
      case 'deliver':
      case 'caught-up':
      case 'pong':
      case 'gap':
      case 'subscribed':
      case 'unsubscribed':
        break
    }
    intake.take(frame)
  }

  #hello(): string {
    return encodeDeviceFrame({
      kind: 'hello',
      deviceKey: this.#deviceKey,
      gatewayToken: this.#options.token,
      // The newest ones, when there are more than a hello may name.
      cursors: new Map([...this.cursors].slice(-HELLO_CURSORS_MAX)),
      client: this.#options.client,
    })
  }
}

function lossOf({
  reason,
  retryAfterMs,
}: Extract<GatewayFrame, { readonly kind: 'goaway' }>): Loss {
  if (reason === 'replaced') return { kind: 'end', end: { kind: 'replaced' } }
  return { kind: 'again', reason, afterMs: retryAfterMs }
}

function refusedWith({ code, message }: Extract<GatewayFrame, { readonly kind: 'error' }>): Loss {
  const status = code === 'authentication_failed' ? 401 : 404
  const error = new HeliographError(message, { code, status, retryable: false })
  return { kind: 'end', end: { kind: 'refused', error } }
}

/** Notices that nothing has come for a while. Coarse: it looks once in each period. */
class Watchdog {
  readonly #runtime: ClientRuntime
  readonly #bark: () => void
  #cancel: () => void
  #hasHeard = false

  constructor(runtime: ClientRuntime, bark: () => void) {
    this.#runtime = runtime
    this.#bark = bark
    this.#cancel = runtime.after(WELCOME_WITHIN_MS, bark)
  }

  heard(): void {
    this.#hasHeard = true
  }

  /** From the welcome on: something must come within every period. */
  expectWithin(periodMs: number): void {
    this.#cancel()
    this.#cancel = this.#runtime.after(periodMs, () => {
      if (!this.#hasHeard) {
        this.#bark()
        return
      }
      this.#hasHeard = false
      this.expectWithin(periodMs)
    })
  }

  stop(): void {
    this.#cancel()
  }
}

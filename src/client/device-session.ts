// Runs one session of a device, from the connection to its loss. (docs/session.md)
//
// Invariants:
//   device-session/1. `replaced` and refused credentials are final: a new connection would only end
//     the newer session, or the gateway would refuse it again.
//   device-session/2. A session is over once its last handler has ended and the store has its
//     positions.

import type { ChannelId, DeviceKey } from '#domain/identity'
import { encodeDeviceFrame } from '#src/schemas/frames'
import type { GatewayFrame } from '#src/schemas/frames'
import { readGatewayFrame } from '#src/schemas/read-frames'
import type { Carrier, Connection } from './carrier.ts'
import { HeliographError } from './error.ts'
import { Intake } from './intake.ts'
import type { Handlers } from './intake.ts'
import type { PositionStore } from './position-store.ts'
import type { ClientRuntime } from './runtime.ts'

/** Milliseconds that the gateway may take from the beginning of a connection to its welcome. */
const WELCOME_WITHIN_MS = 15_000

/** Checks once in each period, so it notices silence after one to two periods. */
class Watchdog {
  readonly #runtime: ClientRuntime
  readonly #onSilence: () => void
  #cancel: () => void
  #hasReceived = false

  /** Calls `onSilence` once no frame has come for too long. */
  constructor(runtime: ClientRuntime, onSilence: () => void) {
    this.#runtime = runtime
    this.#onSilence = onSilence
    this.#cancel = runtime.after(WELCOME_WITHIN_MS, onSilence)
  }

  received(): void {
    this.#hasReceived = true
  }

  /** Expects a frame within every period. Called at the welcome. */
  expectWithin(periodMs: number): void {
    this.#cancel()
    this.#cancel = this.#runtime.after(periodMs, () => {
      if (!this.#hasReceived) {
        this.#onSilence()
        return
      }
      this.#hasReceived = false
      this.expectWithin(periodMs)
    })
  }

  stop(): void {
    this.#cancel()
  }
}

/** The reason for the end of a watch. */
export type WatchEnd =
  | { readonly kind: 'closed' }
  | { readonly kind: 'replaced' }
  | { readonly kind: 'refused'; readonly error: HeliographError }
  /** The position store could not be read. */
  | { readonly kind: 'failed'; readonly error: unknown }

/** The end of one session. */
export type Loss =
  | { readonly kind: 'end'; readonly end: WatchEnd }
  | {
      readonly kind: 'again'
      readonly reason: string
      /** Milliseconds that the gateway asks to wait. */
      readonly afterMs?: number | undefined
      /** The error of a handler or of the position store. */
      readonly error?: unknown
    }

export interface SessionOptions {
  readonly carrier: Carrier
  readonly deviceKey: DeviceKey
  readonly token: string | undefined
  readonly client: string | undefined
  readonly handlers: Handlers
  readonly store: PositionStore | undefined
  readonly runtime: ClientRuntime
  /** The position in each channel, which this session moves. */
  readonly cursors: Map<ChannelId, number>
  /** The most of them that the hello has. */
  readonly cursorsMax: number
  /** Called at the welcome of the gateway. */
  readonly opened: (sessionId: string) => void
  /** Called after a handler has resolved. */
  readonly progressed: () => void
}

/** Refusals that no later attempt overcomes. (device-session/1) */
const FINAL: ReadonlySet<string> = new Set(['device_key_not_found', 'authentication_failed'])

export class Session {
  /** Resolves when the session is over; never rejects. (device-session/2) */
  readonly lost: Promise<Loss>
  /** True from the hello to its welcome. */
  isUnanswered = false
  readonly #options: SessionOptions
  readonly #connection: Connection
  readonly #intake: Intake
  readonly #watchdog: Watchdog
  #lose: (loss: Loss) => void

  constructor(options: SessionOptions) {
    const { handlers, runtime, cursors, store, progressed } = options
    const { promise, resolve } = Promise.withResolvers<Loss>()
    this.#options = options
    this.#lose = resolve
    this.#intake = new Intake({
      handlers,
      runtime,
      cursors,
      store,
      send: (text) => this.#connection.send(text),
      handled: progressed,
      failed: (reason, error) => resolve({ kind: 'again', reason, error }),
    })
    this.#watchdog = new Watchdog(runtime, () => resolve({ kind: 'again', reason: 'silence' }))
    this.#connection = options.carrier({
      opened: () => {
        this.isUnanswered = true
        this.#connection.send(this.#hello())
      },
      received: (text) => this.#received(text),
      closed: (reason) => resolve({ kind: 'again', reason }),
    })
    this.lost = this.#ended(promise)
  }

  /** Ends the session; `lost` resolves once the running handler has ended. */
  close(): void {
    this.#lose({ kind: 'end', end: { kind: 'closed' } })
  }

  async #ended(lost: Promise<Loss>): Promise<Loss> {
    const loss = await lost
    this.#watchdog.stop()
    await this.#intake.end() // device-session/2
    this.#connection.close()
    return loss
  }

  #received(text: string): void {
    this.#watchdog.received()
    const frame = readGatewayFrame(text)
    if (frame !== undefined) this.#take(frame)
  }

  #take(frame: GatewayFrame): void {
    switch (frame.kind) {
      case 'ping':
        this.#connection.send(encodeDeviceFrame({ kind: 'pong', mark: frame.mark }))
        return
      case 'goaway':
        this.#lose(lossOf(frame)) // device-session/1
        return
      case 'error':
        if (FINAL.has(frame.code)) this.#lose(refusedWith(frame)) // device-session/1
        return
      case 'welcome':
        this.isUnanswered = false
        this.#watchdog.expectWithin(frame.idleMs)
        this.#options.opened(frame.sessionId)
        break
      case 'deliver':
      case 'caught-up':
      case 'pong':
      case 'gap':
      case 'subscribed':
      case 'unsubscribed':
        break
    }
    this.#intake.take(frame)
  }

  #hello(): string {
    const { deviceKey, token, cursors, cursorsMax, client } = this.#options
    // Those that moved last: what the gateway knows of the others is as new.
    const newest = new Map([...cursors].slice(-cursorsMax))
    return encodeDeviceFrame({
      kind: 'hello',
      deviceKey,
      gatewayToken: token,
      cursors: newest,
      client,
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

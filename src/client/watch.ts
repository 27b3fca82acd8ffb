// Keeps the session of a device: reconnects after every loss, from the device's position.
// (decisions.md 10)
//
//   connecting ─▶ open ── lost, goaway, silence, failed handler ──▶ waiting ─▶ connecting
//                  └── replaced, refused, closed by the caller: the end
//
// Invariants:
//   watch/1. A watch has one session at a time; the next one begins when the last handler of the
//     one before has ended.
//   watch/2. Delays grow and are random; they begin again after a session has delivered something.
//   watch/3. A final refusal ends the watch. (device-session/1 in device-session.ts)

import { parseDeviceKey } from '#domain/identity'
import type { ChannelId, DeviceKey } from '#domain/identity'
import { HELLO_CURSORS_FEW, HELLO_CURSORS_MAX } from '#src/schemas/frames'
import { webSocketCarrier } from './carrier.ts'
import type { Carrier } from './carrier.ts'
import type { Handlers } from './intake.ts'
import { checkedPositions } from './position-store.ts'
import type { PositionStore } from './position-store.ts'
import { WEB, backoffMs } from './runtime.ts'
import type { ClientRuntime } from './runtime.ts'
import { Session } from './device-session.ts'
import type { Loss, WatchEnd } from './device-session.ts'

export type { WatchEnd } from './device-session.ts'

/** The device, and how it reaches the gateway. */
export interface DeviceOptions {
  /** The address of the gateway; not needed with a carrier. */
  readonly baseUrl?: string
  /** A secret. */
  readonly deviceKey: string
  /** The gateway token, a secret. */
  readonly token?: string | undefined
  /** WSS to the base URL by default. */
  readonly carrier?: Carrier
  /**
   * Keeps the device's positions between runs of its program. Without one a new program resumes
   * from the acknowledged entries.
   */
  readonly store?: PositionStore
  /** The name of the device's software. */
  readonly client?: string
  /**
   * Called when the connection changes and when a handler fails. Errors that it throws become
   * uncaught errors, and the watch goes on.
   */
  readonly onState?: (state: WatchState) => void
  readonly runtime?: ClientRuntime
}

export interface WatchOptions extends DeviceOptions, Handlers {}

export type WatchState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open'; readonly sessionId: string }
  /** `error` is that of a handler or the store; the entry of a failed handler comes again. */
  | {
      readonly kind: 'waiting'
      readonly delayMs: number
      readonly reason: string
      readonly error?: unknown
    }

export interface Watch {
  /** Resolves when the watch is over; never rejects. */
  readonly ended: Promise<WatchEnd>
  /** By channel the position up to which every entry was handled. */
  readonly cursors: ReadonlyMap<ChannelId, number>
  /** Ends a wait and connects at once, for programs that know that the network is back. */
  wake(): void
  /** Ends the watch once the running handler has ended and its entry is acknowledged. */
  close(): Promise<void>
}

const BACKOFF = { firstMs: 500, maxMs: 30_000 }

/** Opens the session of a device and keeps it. Throws TypeError for an option of the wrong form. */
export function watch(options: WatchOptions): Watch {
  const deviceKey = parseDeviceKey(options.deviceKey)
  if (deviceKey === undefined) throw new TypeError('a device key is 32 lower-case hex digits')
  return new Watcher(options, deviceKey, options.carrier ?? webSocketCarrier(options.baseUrl ?? ''))
}

class Watcher implements Watch {
  readonly ended: Promise<WatchEnd>
  readonly cursors = new Map<ChannelId, number>()
  readonly #options: WatchOptions
  readonly #deviceKey: DeviceKey
  readonly #carrier: Carrier
  readonly #runtime: ClientRuntime
  #attempt = 0
  #cursorsMax = HELLO_CURSORS_MAX
  #isClosing = false
  /** Ends the session, or the wait for the next one. */
  #interrupt: () => void = () => {}
  #wake: () => void = () => {}

  constructor(options: WatchOptions, deviceKey: DeviceKey, carrier: Carrier) {
    this.#options = options
    this.#deviceKey = deviceKey
    this.#carrier = carrier
    this.#runtime = options.runtime ?? WEB
    this.ended = this.#run()
  }

  wake(): void {
    this.#wake()
  }

  async close(): Promise<void> {
    this.#isClosing = true
    this.#interrupt()
    await this.ended
  }

  #report(state: WatchState): void {
    try {
      this.#options.onState?.(state)
    } catch (error) {
      this.#runtime.report(error)
    }
  }

  async #run(): Promise<WatchEnd> {
    try {
      await this.#load()
    } catch (error) {
      return { kind: 'failed', error }
    }
    while (!this.#isClosing) {
      this.#report({ kind: 'connecting' })
      if (this.#isClosing) break // by the handler
      const loss = await this.#session() // watch/1
      if (loss.kind === 'end') return loss.end // watch/3
      if (this.#isClosing) break
      await this.#wait(loss)
    }
    return { kind: 'closed' }
  }

  async #load(): Promise<void> {
    const { store } = this.#options
    if (store === undefined) return
    const positions = checkedPositions(await store.load())
    if (positions === undefined) throw new TypeError('the store does not hold positions')
    for (const [channelId, seq] of positions) this.cursors.set(channelId, seq)
  }

  /** Waits before the next session. (watch/2) */
  async #wait({ reason, afterMs, error }: Extract<Loss, { readonly kind: 'again' }>) {
    const jittered = backoffMs(this.#runtime, this.#attempt, BACKOFF)
    this.#attempt += 1
    const delayMs = afterMs === undefined ? jittered : afterMs + (afterMs > 0 ? 0 : jittered)
    this.#report({ kind: 'waiting', delayMs, reason, ...(error !== undefined && { error }) })
    if (this.#isClosing) return // by the handler
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = this.#runtime.after(delayMs, resolve)
    this.#interrupt = resolve
    this.#wake = resolve
    await promise
    cancel()
    this.#wake = () => {}
  }

  async #session(): Promise<Loss> {
    const { token, client, store } = this.#options
    const session = new Session({
      carrier: this.#carrier,
      deviceKey: this.#deviceKey,
      token,
      client,
      handlers: this.#options,
      store,
      runtime: this.#runtime,
      cursors: this.cursors,
      cursorsMax: this.#cursorsMax,
      opened: (sessionId) => this.#report({ kind: 'open', sessionId }),
      progressed: () => {
        this.#attempt = 0 // watch/2
      },
    })
    this.#interrupt = () => session.close()
    const loss = await session.lost
    if (session.isUnanswered) this.#cursorsMax = HELLO_CURSORS_FEW // It may have been too long.
    return loss
  }
}

// Handles the frames of one session one at a time, in order, and acknowledges each after that.
//
// Invariants:
//   intake/1. The intake acknowledges an entry and moves its cursor only after the handler has
//     resolved.
//   intake/2. After a handler failed, the session handles and acknowledges nothing more, so the
//     next session begins with that entry.
//   intake/3. Handlers never overlap. The gateway's window bounds the waiting frames.
//   intake/4. The intake acknowledges a repeated entry again and does not handle it again.
//     (positions/1 in positions.ts)
//   intake/5. The intake saves a position before it acknowledges it, so a new program knows every
//     entry that the gateway takes for handled.
//   intake/6. One save runs at a time, and the next one has everything that came meanwhile: a slow
//     store is asked as often as it answers, however many entries come.

import type { ChannelId } from '#domain/identity'
import type { SubscribedChannel, Delivery, Gap, GatewayFrame } from '#src/schemas/frames'
import { WELCOME_CHANNELS_MAX, encodeDeviceFrame } from '#src/schemas/frames'
import type { Welcome } from '#src/schemas/frames'
import { Positions } from './positions.ts'
import type { PositionStore } from './position-store.ts'
import type { ClientRuntime } from './runtime.ts'

/** Handlers of a device. Each call waits for the promise of the one before. */
export interface Handlers {
  onEntry(delivery: Delivery): void | Promise<void>
  onGap?(gap: Gap): void | Promise<void>
  /** Called when the device has every entry up to `seq`. */
  onCaughtUp?(channelId: ChannelId, seq: number): void | Promise<void>
  /** Called for each channel at the beginning of a session, and when the device subscribes. */
  onChannel?(channel: SubscribedChannel): void | Promise<void>
  onUnsubscribed?(channelId: ChannelId): void | Promise<void>
}

/**
 * Entries after which an acknowledgement goes out at once; well below the half of the gateway's
 * window.
 */
const ACK_ENTRIES_MAX = 32
const ACK_WITHIN_MS = 200

interface IntakePorts {
  readonly handlers: Handlers
  readonly runtime: ClientRuntime
  /** The device's position in each channel, which the intake moves. */
  readonly cursors: Map<ChannelId, number>
  readonly store: PositionStore | undefined
  readonly send: (text: string) => void
  /** Called after an entry or the end of a catch-up was handled. */
  readonly handled: () => void
  /** Called when a handler or the store failed. */
  readonly failed: (reason: string, error: unknown) => void
}

export class Intake {
  readonly #ports: IntakePorts
  readonly #positions: Positions
  readonly #unsent = new Map<ChannelId, number>()
  #unsentEntries = 0
  #cancelTimer: (() => void) | undefined
  #tail: Promise<void> = Promise.resolve()
  #saving: Promise<void> | undefined
  /** True when acknowledgements are due that came after the present save had begun. */
  #isDue = false
  #isOver = false

  constructor(ports: IntakePorts) {
    this.#ports = ports
    this.#positions = new Positions(ports.cursors)
  }

  /** Handles a frame after all earlier ones. (intake/3) */
  take(frame: GatewayFrame): void {
    this.#tail = this.#tail.then(() => this.#handle(frame))
  }

  /** Drops waiting frames; resolves when the running handler has ended and positions are saved. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.#tail
    this.#flush()
    await this.#saving
  }

  /** Saves the positions that have moved and sends the acknowledgements that wait. (intake/5) */
  #flush(): void {
    if (this.#cancelTimer === undefined && this.#unsentEntries === 0) return
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    const { store } = this.#ports
    if (store === undefined) this.#send(this.#takeUnsent())
    else {
      this.#isDue = true
      this.#saving ??= this.#saveWhileDue(store) // intake/6
    }
  }

  #takeUnsent(): Acknowledged {
    const acks = [...this.#unsent]
    this.#unsent.clear()
    this.#unsentEntries = 0
    return acks
  }

  async #saveWhileDue(store: PositionStore): Promise<void> {
    try {
      while (this.#isDue) {
        this.#isDue = false
        const acks = this.#takeUnsent()
        await store.save(new Map(this.#ports.cursors))
        this.#send(acks) // intake/5
      }
    } catch (error) {
      this.#isDue = false
      this.#fail('positions not saved', error)
    }
    this.#saving = undefined
  }

  #send(acks: Acknowledged): void {
    for (const [channelId, seq] of acks) {
      this.#ports.send(encodeDeviceFrame({ kind: 'ack', channelId, seq }))
    }
  }

  async #handle(frame: GatewayFrame): Promise<void> {
    if (this.#isOver) return
    try {
      const isKnown = frame.kind === 'deliver' && !this.#positions.isNew(frame)
      if (!isKnown) await this.#callHandler(frame) // intake/4
    } catch (error) {
      this.#fail('handler failed', error)
      return
    }
    this.#settle(frame) // intake/1
  }

  #fail(reason: string, error: unknown): void {
    this.#isOver = true // intake/2
    this.#ports.failed(reason, error)
  }

  async #callHandler(frame: GatewayFrame): Promise<void> {
    const { handlers } = this.#ports
    if (frame.kind === 'deliver') await handlers.onEntry(frame)
    else if (frame.kind === 'gap') await handlers.onGap?.(frame)
    else if (frame.kind === 'caught-up') await handlers.onCaughtUp?.(frame.channelId, frame.seq)
    else if (frame.kind === 'subscribed') await handlers.onChannel?.(frame)
    else if (frame.kind === 'unsubscribed') await handlers.onUnsubscribed?.(frame.channelId)
    else if (frame.kind === 'welcome') await this.#welcome(frame)
  }

  async #welcome({ channels }: Welcome): Promise<void> {
    const { handlers, cursors } = this.#ports
    // A shorter list is complete: the subscriptions to other channels have ended meanwhile.
    if (channels.length < WELCOME_CHANNELS_MAX) {
      const ended = new Set(cursors.keys())
      for (const { channelId } of channels) ended.delete(channelId)
      for (const channelId of ended) {
        await handlers.onUnsubscribed?.(channelId)
        this.#forget(channelId)
      }
    }
    for (const channel of channels) await handlers.onChannel?.(channel)
  }

  #settle(frame: GatewayFrame): void {
    if (frame.kind === 'deliver') this.#positions.handled(frame)
    else if (frame.kind === 'caught-up') this.#positions.caughtUp(frame.channelId, frame.seq)
    else if (frame.kind === 'gap') this.#positions.skipped(frame)
    else if (frame.kind === 'unsubscribed') this.#forget(frame.channelId)
    if (frame.kind === 'deliver' || frame.kind === 'caught-up') this.#acknowledge(frame)
  }

  #forget(channelId: ChannelId): void {
    this.#positions.forget(channelId)
    this.#unsent.delete(channelId)
    this.#flushSoon()
  }

  #acknowledge({ channelId, seq }: { readonly channelId: ChannelId; readonly seq: number }): void {
    this.#ports.handled()
    this.#unsent.set(channelId, seq)
    this.#unsentEntries += 1
    if (this.#unsentEntries >= ACK_ENTRIES_MAX) this.#flush()
    else this.#flushSoon()
  }

  #flushSoon(): void {
    this.#cancelTimer ??= this.#ports.runtime.after(ACK_WITHIN_MS, () => this.#flush())
  }
}

type Acknowledged = readonly (readonly [ChannelId, number])[]

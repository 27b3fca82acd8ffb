// The wills of clients that are gone, from the end of the connection to their publish.
//
// Invariants:
//   wills/1. A will is published once its delay or its session is over, whichever is first.
//   wills/2. What waits is bounded in bytes, of a channel and in all, and holds nothing else of its
//            connection. A will beyond is published at once.
//   wills/3. A will is dropped when the password or key of its session opens nothing any more.

import type { ChannelId, DeviceId } from '#domain/identity'
import type { Runtime } from '#domain/runtime'
import type { Meter } from '#domain/telemetry'
import type { ChannelAccess, OpenChannel } from '#src/acceptance/channel-access'
import type { Will } from './connect.ts'
import type { Bequest, Publisher } from './publisher.ts'

/** The will of a client that is gone, and that by which it is published. */
export interface Testament {
  readonly will: Will
  readonly publisher: Pick<Publisher, 'publish' | 'bequest' | 'close'>
  readonly open: OpenChannel
  /** The password or key that opened it. */
  readonly password: string
  /** Milliseconds for which the session is kept behind the connection. */
  readonly keptMs: number
}

interface WillsPorts {
  readonly access: Pick<ChannelAccess, 'refusalSince'>
  readonly runtime: Pick<Runtime, 'after' | 'nowMs'>
  readonly meter: Pick<Meter, 'gauge'>
}

interface Waiting extends Pick<Testament, 'open' | 'password'> {
  readonly cancel: () => void
  bytes: number
}

/** A will for the time at which it is due. */
interface Due {
  readonly delayMs: number
  readonly bequest: Promise<Bequest | undefined>
  /** The will without its payload, which the bequest has. */
  readonly said: Will
}

/** The wills of one channel that wait. */
interface Share {
  readonly names: Set<DeviceId>
  bytes: number
}

/** Bytes of the wills that wait, of a channel and in all. */
export const WILLS_CHANNEL_BYTES_MAX = 16 * 2 ** 20
export const WILLS_BYTES_MAX = 64 * 2 ** 20
/** Bytes that a will takes beside what it says. */
export const WILL_BYTES = 1_536

const NO_PAYLOAD = new Uint8Array()

export class Wills {
  readonly #ports: WillsPorts
  readonly #waiting = new Map<DeviceId, Waiting>()
  readonly #shares = new Map<ChannelId, Share>()
  #bytes = 0

  constructor(ports: WillsPorts) {
    this.#ports = ports
    ports.meter.gauge('mqtt_wills_waiting', {}, () => this.#waiting.size)
    ports.meter.gauge('mqtt_will_bytes', {}, () => this.#bytes)
  }

  /** The channels whose wills wait. */
  get channels(): readonly ChannelId[] {
    return [...this.#shares.keys()]
  }

  /** Publishes a will when it is time. */
  take(name: DeviceId, { will, publisher, open, password, keptMs }: Testament): void {
    const { runtime } = this.#ports
    const publish = (): void => void publisher.publish(will)
    const delayMs = Math.min(will.delayMs, keptMs) // wills/1
    const bytes = WILL_BYTES + will.payload.length
    if (delayMs <= 0 || !this.#hasRoom(open.channelId, bytes)) return publish() // wills/2
    const bequest = publisher.bequest(will, runtime.nowMs() + delayMs)
    const said = { ...will, payload: NO_PAYLOAD }
    const waiting = { open, password, bytes, cancel: this.#timer(name, { delayMs, bequest, said }) }
    this.#put(name, waiting)
    void bequest.then((left) => this.#weigh(name, waiting, { left, publish }))
  }

  /** A function of its own, so that the timer keeps nothing of the connection. (wills/2) */
  #timer(name: DeviceId, { delayMs, bequest, said }: Due): () => void {
    const { runtime } = this.#ports
    return runtime.after(delayMs, () => {
      this.drop(name)
      void bequest.then((left) => left?.heir.submit(left.wishes, said, runtime.nowMs()))
    })
  }

  /** The client is back, or its will is worth nothing. */
  drop(name: DeviceId): void {
    const waiting = this.#waiting.get(name)
    if (waiting === undefined) return
    waiting.cancel()
    this.#waiting.delete(name)
    const { channelId } = waiting.open
    this.#count(channelId, -waiting.bytes)
    const share = this.#shares.get(channelId)
    share?.names.delete(name)
    if (share?.names.size === 0) this.#shares.delete(channelId)
  }

  dropAll(): void {
    for (const name of this.#waiting.keys()) this.drop(name)
  }

  /**
   * Drops the wills of a channel, or of one key of it, whose password or key opens nothing any
   * more. A store that does not answer drops none. (wills/3)
   */
  prove(channelId: ChannelId, keyId?: string): void {
    const verdicts = new Map<string, Promise<boolean>>()
    for (const name of this.#shares.get(channelId)?.names ?? []) {
      const waiting = this.#waiting.get(name)
      if (waiting === undefined) continue
      const { open, password } = waiting
      if (keyId !== undefined && open.key?.keyId !== keyId) continue
      const by = open.key?.keyHash ?? password
      const known = verdicts.get(by)
      const over = known ?? this.#isOver(waiting)
      verdicts.set(by, over)
      void over.then((isOver) => {
        if (isOver && this.#waiting.get(name) === waiting) this.drop(name)
      })
    }
  }

  async #isOver({ open, password }: Waiting): Promise<boolean> {
    return (await this.#ports.access.refusalSince(open, password)) !== undefined
  }

  #hasRoom(channelId: ChannelId, bytes: number): boolean {
    const held = this.#shares.get(channelId)?.bytes ?? 0
    return held + bytes <= WILLS_CHANNEL_BYTES_MAX && this.#bytes + bytes <= WILLS_BYTES_MAX
  }

  /** Counts what a will takes once that is known. (wills/2) */
  #weigh(
    name: DeviceId,
    waiting: Waiting,
    { left, publish }: { readonly left: Bequest | undefined; readonly publish: () => void },
  ): void {
    if (this.#waiting.get(name) !== waiting) return
    const { channelId } = waiting.open
    const more = left === undefined ? 0 : WILL_BYTES + bytesOf(left) - waiting.bytes
    if (left !== undefined && this.#hasRoom(channelId, more)) {
      waiting.bytes += more
      return this.#count(channelId, more)
    }
    this.drop(name)
    if (left !== undefined) publish()
  }

  #put(name: DeviceId, waiting: Waiting): void {
    const { channelId } = waiting.open
    this.drop(name)
    this.#waiting.set(name, waiting)
    const share = this.#shares.get(channelId) ?? { names: new Set(), bytes: 0 }
    this.#shares.set(channelId, share)
    share.names.add(name)
    this.#count(channelId, waiting.bytes)
  }

  #count(channelId: ChannelId, bytes: number): void {
    const share = this.#shares.get(channelId)
    if (share !== undefined) share.bytes += bytes
    this.#bytes += bytes
  }
}

const bytesOf = ({ wishes }: Bequest): number => Buffer.byteLength(JSON.stringify(wishes))

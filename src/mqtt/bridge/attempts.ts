// Remembers, whatever ends the process, which publishes of the broker were being read then: the
// broker sends what it keeps to the next process again, which may end by the same publish.
//
// Invariants:
//   bridge-attempts/1. The store has an attempt before it begins. One that ends, however, is taken
//                      back: what is left are attempts in which the process ended.
//   bridge-attempts/2. After ATTEMPTS_MAX of these a publish is not tried again. At most
//                      PUBLISHES_MAX are remembered, the oldest are forgotten first.

import { hash } from 'node:crypto'

import { parseDeviceId, parseOperationId } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import type { Exchange, MqttSessionStore, SessionOwner } from '#domain/mqtt/sessions'
import type { Runtime } from '#domain/runtime'
import type { BrokerPublish } from './broker.ts'

export interface AttemptsPorts {
  /** The bridge is a kept session of its own, whose exchanges have attempts for packet ids. */
  readonly mqttSessions: Pick<MqttSessionStore, 'enter' | 'record'>
  readonly runtime: Pick<Runtime, 'nowMs'>
}

export const ATTEMPTS_MAX = 3
const PUBLISHES_MAX = 32
const DIGEST_LENGTH = 32

export class Attempts {
  readonly #ports: AttemptsPorts
  readonly #channelId: ChannelId
  #owner: SessionOwner | 'unkept' | undefined
  /** By their places, the oldest first; those without attempts are free. */
  readonly #known = new Map<number, Exchange>()

  constructor(ports: AttemptsPorts, channelId: ChannelId) {
    this.#ports = ports
    this.#channelId = channelId
  }

  /**
   * Begins an attempt; false when there were too many. Rejects when the store does not answer, or
   * another process has the bridge.
   */
  async begin(publish: BrokerPublish): Promise<boolean> {
    const owner = (this.#owner ??= await this.#enter())
    // The channel keeps no further session: nothing is remembered.
    if (owner === 'unkept') return true
    const digest = digestOf(publish)
    const known = this.#find(digest)
    const before = known?.packetId ?? 0
    if (before >= ATTEMPTS_MAX) return false // bridge-attempts/2
    const slot = known?.slot ?? this.#place()
    const opId = parseOperationId(`bridge-${digest}`)
    if (opId === undefined) throw new Error('no op_id')
    const attempt: Exchange = { slot, packetId: before + 1, opId, digest, qos: 1 }
    const isOwned = await this.#ports.mqttSessions.record(owner, [attempt]) // bridge-attempts/1
    if (!isOwned) {
      this.#owner = undefined
      throw new Error('another process has the bridge')
    }
    this.#known.delete(slot)
    this.#known.set(slot, attempt)
    return true
  }

  /** Takes the attempts with a publish back: the process has not ended by it. Never rejects. */
  async end(publish: BrokerPublish): Promise<void> {
    const known = this.#find(digestOf(publish))
    if (known === undefined || typeof this.#owner !== 'object') return
    const over = { ...known, packetId: 0 }
    this.#known.set(known.slot, over)
    // Without this an attempt remains that says nothing of the publish, of which some are allowed.
    await this.#ports.mqttSessions.record(this.#owner, [over]).catch(() => undefined)
  }

  async #enter(): Promise<SessionOwner | 'unkept'> {
    const { mqttSessions, runtime } = this.#ports
    const deviceId = parseDeviceId(hash('sha256', `mqtt-bridge:${this.#channelId}`, 'hex'))
    if (deviceId === undefined) throw new Error('no device id')
    // What was tried outlives a key of the bridge: another one may stand in its place.
    const whose = { deviceId, channelId: this.#channelId, keyId: '', expiresAt: undefined }
    const entry = { ...whose, isClean: false, isKept: true }
    const { number, kept } = await mqttSessions.enter({ ...entry, nowMs: runtime.nowMs() })
    this.#known.clear()
    for (const exchange of kept?.exchanges ?? []) this.#known.set(exchange.slot, exchange)
    return kept === undefined ? 'unkept' : { deviceId, number }
  }

  #find(digest: string): Exchange | undefined {
    return [...this.#known.values()].find((exchange) => exchange.digest === digest)
  }

  /** A free place, or that of the publish that was tried longest ago. */
  #place(): number {
    const all = [...this.#known.values()]
    const free = all.find(({ packetId }) => packetId === 0)
    const oldest = all.length < PUBLISHES_MAX ? undefined : all[0]
    return (free ?? oldest)?.slot ?? all.length
  }
}

const digestOf = ({ topic, payload }: BrokerPublish): string =>
  hash('sha256', Buffer.concat([Buffer.from(`${topic}\0`), payload]), 'hex').slice(0, DIGEST_LENGTH)

// Kept MQTT sessions in memory.

import type { DeviceId } from '#domain/identity'
import type {
  EnteredSession,
  Exchange,
  MqttEntry,
  MqttSessionStore,
  SessionOwner,
} from '#domain/mqtt/sessions'

interface Row {
  number: number
  subscriptions: string
  expiresAt: number | undefined
  readonly exchanges: Map<number, Exchange>
}

export class FakeMqttSessions implements MqttSessionStore {
  readonly rows = new Map<DeviceId, Row>()
  /** Rejects while it is set. */
  isAway = false

  async enter({ deviceId, isClean, isKept, nowMs, expiresAt }: MqttEntry): Promise<EnteredSession> {
    this.#check()
    const row = this.rows.get(deviceId)
    const isPresent = row !== undefined && !isClean && (row.expiresAt ?? Infinity) > nowMs
    if (!isPresent) this.rows.delete(deviceId)
    const number = Math.max((row?.number ?? 0) + 1, nowMs)
    if (!isPresent && !isKept) return { number, kept: undefined }
    const kept = isPresent ? row : { number, subscriptions: '[]', exchanges: new Map() }
    this.rows.set(deviceId, { ...kept, number, expiresAt })
    const { subscriptions } = kept
    return { number, kept: { isPresent, subscriptions, exchanges: [...kept.exchanges.values()] } }
  }

  async subscribe(owner: SessionOwner, subscriptions: string): Promise<boolean> {
    const row = this.#owned(owner)
    if (row !== undefined) row.subscriptions = subscriptions
    return row !== undefined
  }

  async record(owner: SessionOwner, exchanges: readonly Exchange[]): Promise<boolean> {
    const row = this.#owned(owner)
    for (const exchange of exchanges) row?.exchanges.set(exchange.slot, exchange)
    return row !== undefined
  }

  async leave(owner: SessionOwner, expiresAt: number | undefined): Promise<void> {
    const row = this.#owned(owner)
    const until = Math.min(row?.expiresAt ?? Infinity, expiresAt ?? Infinity)
    if (row !== undefined && until < Infinity) row.expiresAt = until
  }

  #owned({ deviceId, number }: SessionOwner): Row | undefined {
    this.#check()
    const row = this.rows.get(deviceId)
    return row?.number === number ? row : undefined
  }

  #check(): void {
    if (this.isAway) throw new Error('the store is away')
  }
}

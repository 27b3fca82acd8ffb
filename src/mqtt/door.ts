// The door of MQTT: all connections of a process, whatever their carriers.
//
// Invariants:
//   mqtt-door/1. A client id has one connection in a channel: a newer one ends the older, on every
//                node.
//   mqtt-door/2. Connections whose password or key opens nothing any more end: at a notice, when
//                notices may have been lost, and every minute, since nobody knows of some losses.
//   mqtt-door/3. A will is not published when its client is back in time, has left in peace, or
//                may not send any more.
//   mqtt-door/4. `drain` answers what was taken, then tells every client; none remains.
//   mqtt-door/5. A subscriber that the owner of the channel removes has neither a connection nor a
//                session any more: the one way in which somebody else ends its subscription.

import { Limiter } from '#domain/bounds/limiter'
import type { ChannelId, DeviceId } from '#domain/identity'
import type { MqttSessionStore, SessionOwner } from '#domain/mqtt/sessions'
import type { Bus, Notice } from '#domain/ports'
import { pause } from '#domain/runtime'
import type { Runtime } from '#domain/runtime'
import type { DeviceStore, SubscriptionStore } from '#domain/store-ports'
import type { Logger, Meter } from '#domain/telemetry'
import type { Acceptance } from '#src/acceptance/acceptance'
import type { Submissions } from '#src/acceptance/submissions'
import { hexSource } from '#src/acceptance/random'
import { DoorRequests } from '#src/doors/door-requests'
import type { DoorRequestsPorts } from '#src/doors/door-requests'
import { Acknowledgements } from '#src/transports/acknowledgements'
import { ChannelListeners } from '#src/transports/channel-listeners'
import { Presence } from '#src/transports/presence'
import type { News as Announced } from '#src/transports/signals'
import { Held } from '#src/transports/held'
import { SLICE_MS, Ticks } from '#src/transports/ticks'
import { HELD_TOTAL_MAX } from './bounds.ts'
import type { CarrierHandle, MqttCarrier } from './carrier.ts'
import { MqttConnection } from './connection.ts'
import { entryFrame } from './following.ts'
import type { Client } from './entrance.ts'
import type { Following, FollowingPorts } from './following.ts'
import { InFlight, STRANGERS } from './in-flight.ts'
import { Lasting } from './lasting.ts'
import { StateBudget } from './devices/family-state.ts'
import type { ConnectionPorts } from './ports.ts'
import { Wills } from './wills.ts'
import type { Testament } from './wills.ts'

export interface MqttDoorPorts extends Pick<DoorRequestsPorts, 'isOpen'> {
  readonly acceptance: Pick<Acceptance, 'callerCheck' | 'access' | 'mappings' | 'presentation'> & {
    readonly submissions: Pick<Submissions, 'submit' | 'refusalBy'>
  }
  readonly bus: Bus
  readonly read: FollowingPorts['read']
  readonly channels: FollowingPorts['channels']
  readonly mqttSessions: MqttSessionStore
  readonly devices: Pick<DeviceStore, 'seen'>
  readonly subscriptions: FollowingPorts['subscriptions'] & Pick<SubscriptionStore, 'acknowledge'>
  readonly runtime: Runtime
  readonly meter: Meter
  readonly logger: Logger
}

interface MqttDoorOptions {
  /** True where a gateway token is set: then only keys open a session. */
  readonly keysOnly: boolean
  /** Milliseconds for which a session is kept at most: as long as a device. */
  readonly keptMsMax: number
}

/** Milliseconds over which credentials are compared with the store, and so many steps. */
const RECHECK_MS = 2_000
const RECHECK_STEPS = 100
/** Milliseconds between two comparisons. */
const RECHECK_EVERY_MS = 60_000
/** Milliseconds between writes of positions. */
const WRITE_EVERY_MS = 5_000
/** Milliseconds for which a stop waits for the last positions. */
const WRITE_WITHIN_MS = 3_000
const ACKNOWLEDGEMENTS_WAITING_MAX = 200_000
/** Bytes of what devices say of later publishes, of one client and of all. */
const STATE_BYTES = { perState: 4 * 2 ** 20, total: 128 * 2 ** 20 }
const CARRIER = 'mqtt'
const READS_AT_ONCE = 16
const READS_WAITING_MAX = 50_000

export class MqttDoor {
  readonly #ports: MqttDoorPorts
  readonly #requests: DoorRequests
  readonly #connectionPorts: ConnectionPorts<MqttConnection>
  readonly #connections = new Set<MqttConnection>()
  readonly #byClient = new Map<DeviceId, MqttConnection>()
  readonly #wills: Wills
  readonly #acknowledgements: Acknowledgements
  readonly #presence: Presence
  readonly #stops: (() => void)[]
  #isLeaving = false
  #whenEmpty: (() => void) | undefined
  #drained: Promise<void> | undefined

  constructor(ports: MqttDoorPorts, options: MqttDoorOptions) {
    this.#ports = ports
    const { acceptance, runtime, meter, logger, bus } = ports
    const { callerCheck, access, submissions, mappings, presentation } = acceptance
    const { nowMs } = runtime
    this.#requests = new DoorRequests('mqtt', { ...ports, callerCheck, nowMs })
    const ticks = new Ticks<MqttConnection>(runtime.monotonicMs())
    const [inFlight, strangers] = [new InFlight(), new InFlight(STRANGERS)]
    const lasting = new Lasting()
    const states = new StateBudget(
      STATE_BYTES,
      meter.counter('device_state_forgotten_total', { by: 'mqtt' }),
    )
    const held = new Held(HELD_TOTAL_MAX, () => undefined)
    const reads = new Limiter({ places: READS_AT_ONCE, waitingMax: READS_WAITING_MAX })
    const tell = (following: Following, news: Announced): void =>
      following.news({ kind: 'announced', ...news })
    const listeners = new ChannelListeners<Following>(bus, tell, entryFrame)
    this.#acknowledgements = new Acknowledgements(ports, ACKNOWLEDGEMENTS_WAITING_MAX)
    this.#presence = new Presence({ ...ports, nowMs })
    this.#wills = new Wills({ access, runtime, meter })
    const acknowledgements = this.#acknowledgements
    const crowded = meter.counter('mqtt_places_refused_total', {})
    this.#connectionPorts = {
      ...options,
      mqttSessions: ports.mqttSessions,
      unrecorded: meter.counter('mqtt_unrecorded_total', {}),
      requests: this.#requests,
      access,
      submissions,
      mappings,
      presentation,
      runtime,
      logger,
      inFlight,
      states,
      strangers,
      lasting,
      held,
      ticks,
      crowded,
      following: { ...ports, listeners, reads, acknowledgements, crowded },
      newHex32: hexSource(runtime.entropy),
      lost: meter.counter('mqtt_lost_total', {}),
      entered: (connection) => this.#entered(connection),
      left: (connection, testament) => this.#left(connection, testament),
      gone: (client, keptMs) => this.#kept(client, keptMs),
      ended: (reason) => meter.counter('sessions_ended_total', { carrier: 'mqtt', reason })(),
    }
    meter.gauge('sessions', { carrier: 'mqtt' }, () => this.#byClient.size)
    meter.gauge('mqtt_in_flight_bytes', {}, () => inFlight.bytes)
    meter.gauge('device_state_bytes', { by: 'mqtt' }, () => states.bytes)
    meter.gauge('mqtt_stranger_bytes', {}, () => strangers.bytes)
    meter.gauge('mqtt_lasting_bytes', {}, () => lasting.bytes)
    meter.gauge('mqtt_unread_connections', {}, () => inFlight.waiting + strangers.waiting)
    meter.gauge('mqtt_held_bytes', {}, () => held.bytes)
    meter.gauge('mqtt_reads_waiting', {}, () => reads.waiting)
    this.#stops = [
      bus.onNotice((notice) => this.#noticed(notice)),
      runtime.every(RECHECK_EVERY_MS, () => {
        this.recheck()
        this.#presence.report(this.#present())
      }),
      runtime.every(WRITE_EVERY_MS, () => void acknowledgements.flush()),
      runtime.every(SLICE_MS, () => {
        for (const connection of ticks.due(runtime.monotonicMs())) connection.feed({ kind: 'tick' })
      }),
    ]
  }

  /** Begins to speak with a client. `openingMs`: since its connection. */
  open(carrier: MqttCarrier, openingMs: number): CarrierHandle {
    const connection = new MqttConnection(carrier, openingMs, this.#connectionPorts)
    this.#connections.add(connection)
    return connection
  }

  /**
   * Lets every connection prove itself anew and find what the bus has lost. Also called when
   * notices may have been lost.
   */
  recheck(): void {
    this.#spread([...this.#byClient.values()], (connection) => {
      void this.#prove(connection) // mqtt-door/2
      connection.recheck()
    })
    this.#spread([...this.#wills.channels], (channelId) => this.#wills.prove(channelId))
  }

  #spread<Item>(all: Item[], check: (item: Item) => void): void {
    const share = Math.ceil(all.length / RECHECK_STEPS)
    const next = (): void => {
      for (const item of all.splice(-share)) check(item)
      if (all.length > 0) this.#ports.runtime.after(RECHECK_MS / RECHECK_STEPS, next)
    }
    next()
  }

  /** Finds what the bus has lost. */
  #recheckFeeds(): void {
    for (const connection of this.#byClient.values()) connection.recheck()
  }

  /** Every listener calls it. (mqtt-door/4) */
  drain(): Promise<void> {
    return (this.#drained ??= this.#drain())
  }

  async #drain(): Promise<void> {
    this.#isLeaving = true
    await this.#requests.drain()
    // The acknowledgements of what was taken leave first.
    await pause(this.#ports.runtime)
    for (const connection of this.#connections) connection.leave('shutdown')
    if (this.#connections.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#whenEmpty = resolve
      await promise
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = this.#ports.runtime.after(WRITE_WITHIN_MS, resolve)
    await Promise.race([this.#acknowledgements.flushAll(), promise])
    cancel()
  }

  close(): void {
    this.#isLeaving = true
    for (const stop of this.#stops) stop()
    this.#wills.dropAll()
    for (const connection of this.#connections) connection.leave('shutdown')
  }

  #entered(connection: MqttConnection): void {
    const { owner } = connection.client ?? {}
    if (owner === undefined) return
    const { deviceId } = owner
    this.#wills.drop(deviceId) // mqtt-door/3
    const older = this.#byClient.get(deviceId)
    this.#byClient.set(deviceId, connection)
    older?.leave('taken-over') // mqtt-door/1
    this.#ports.bus.notify({ kind: 'session-opened', carrier: CARRIER, ...owner }) // mqtt-door/1
  }

  /** The kept sessions with a connection here. */
  *#present(): Iterable<DeviceId> {
    for (const { client } of this.#byClient.values()) {
      if (client?.kept !== undefined) yield client.owner.deviceId
    }
  }

  #kept({ owner }: Client, keptMs: number): void {
    const expiresAt = keptMs === Infinity ? undefined : this.#ports.runtime.nowMs() + keptMs
    // Without this it ends with the time of its device.
    this.#ports.mqttSessions.leave(owner, expiresAt).catch(() => undefined)
  }

  #left(connection: MqttConnection, testament: Testament | undefined): void {
    this.#connections.delete(connection)
    if (this.#connections.size === 0) this.#whenEmpty?.()
    const { deviceId } = connection.client?.owner ?? {}
    const isNewest = deviceId !== undefined && this.#byClient.get(deviceId) === connection
    if (isNewest) this.#byClient.delete(deviceId)
    if (testament === undefined) return
    if (isNewest && !this.#isLeaving) this.#wills.take(deviceId, testament)
    else testament.publisher.close()
  }

  #noticed(notice: Notice): void {
    if (notice.kind === 'lane-taken') return this.#recheckFeeds()
    if (notice.kind === 'session-opened') {
      if (notice.carrier === CARRIER) this.#enteredElsewhere(notice)
      return
    }
    // mqtt-door/5
    if (notice.kind === 'unsubscribed') return this.#byClient.get(notice.deviceId)?.removed()
    if (notice.kind !== 'credentials-changed' && notice.kind !== 'channel-deleted') return
    const keyId = notice.kind === 'credentials-changed' ? notice.keyId : undefined
    this.#wills.prove(notice.channelId, keyId)
    for (const connection of this.#ofChannel(notice.channelId)) {
      const isMeant = keyId === undefined || connection.client?.open.key?.keyId === keyId
      if (isMeant) void this.#prove(connection)
    }
  }

  /** mqtt-door/1 */
  #enteredElsewhere({ deviceId, number }: SessionOwner): void {
    const connection = this.#byClient.get(deviceId)
    if (connection === undefined) return this.#wills.drop(deviceId) // mqtt-door/3
    if ((connection.client?.owner.number ?? number) < number) connection.leave('taken-over')
  }

  *#ofChannel(channelId: ChannelId): Iterable<MqttConnection> {
    for (const connection of this.#byClient.values()) {
      if (connection.client?.open.channelId === channelId) yield connection
    }
  }

  /** A store that does not answer ends nobody. */
  async #prove(connection: MqttConnection): Promise<void> {
    if ((await connection.client?.refusal()) !== undefined) connection.leave('not-authorized')
  }
}

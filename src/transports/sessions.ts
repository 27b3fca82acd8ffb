// Keeps the sessions of a process, passes news and notices to them, and drains them at a stop.
//
// Invariants:
//   sessions/1. A device has one session per carrier: a newer one (rank/1) ends the older, on every
//     node.
//   sessions/2. `drain` sends every device a goaway at once, whatever the store does. After it no
//     session remains, and the store has every received acknowledgement, unless it took longer than
//     WRITE_WITHIN_MS: then devices get those entries once more.
//   sessions/3. When a lane gets a new owner its sessions compare their channels with the store:
//     the owner before may have died between a commit and its announcement.

import { laneOf } from '#domain/identity'
import type { ChannelId, DeviceId } from '#domain/identity'
import { Limiter } from '#domain/bounds/limiter'
import type { Bus, Notice, Timers } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import type { DeviceStore, SubscriptionStore } from '#domain/store-ports'
import type { Meter } from '#domain/telemetry'
import { Acknowledgements } from './acknowledgements.ts'
import type { Carrier, SessionHandle } from './carrier.ts'
import { Connection } from './connection.ts'
import type { Shared } from './connection.ts'
import { Held } from './held.ts'
import { Presence } from './presence.ts'
import { ChannelListeners } from './channel-listeners.ts'
import { Rank } from './rank.ts'
import { Rechecks } from './rechecks.ts'
import { endCounter, observeSessions } from './session-metrics.ts'
import { CLOSE } from './signals.ts'
import { SLICE_MS, Ticks } from './ticks.ts'

interface SessionPorts extends Pick<
  Shared,
  'admission' | 'feed' | 'logger' | 'nowMs' | 'monotonicMs' | 'random' | 'soon'
> {
  readonly bus: Bus
  readonly devices: Pick<DeviceStore, 'numberSession' | 'seen'>
  readonly subscriptions: Pick<SubscriptionStore, 'positions' | 'position' | 'acknowledge'>
  readonly meter: Meter
  readonly timers: Timers
  /** Random bytes for the ids of sessions. */
  readonly entropy: Runtime['entropy']
}

export interface SessionOptions {
  /** The number of lanes over which channels are distributed. */
  readonly lanes: number
  /** Bytes that carriers hold for devices, over all sessions. */
  readonly heldBytesMax?: number
}

export interface Sessions {
  /** Begins a session. The carrier calls `closed` once, whichever side closed it. */
  open(carrier: Carrier): SessionHandle
  /**
   * Tells every device, also a new one, to come back later; resolves when all sessions have ended.
   * Every door of sessions calls it.
   * (sessions/2)
   */
  drain(): Promise<void>
  /** Ends all sessions now. Waits for the store no longer than `drain` does. */
  close(): Promise<void>
  count(): number
  /**
   * Makes every session compare its channels with the store, spread over RECHECK_MS. Call it when
   * announcements may have been lost.
   */
  recheck(): void
}

/**
 * Milliseconds between writes of positions and of present devices. Each write costs the database
 * more than a submission, and a device that reconnects sends its position itself.
 */
const WRITE_EVERY_MS = 5_000
/** Milliseconds for which a stop waits for the last positions. */
const WRITE_WITHIN_MS = 3_000
const READS_AT_ONCE = 16
const READS_WAITING_MAX = 50_000
const ACKNOWLEDGEMENTS_WAITING_MAX = 200_000
/** A quarter of a gibibyte, so that a node of 1 GiB survives any number of slow devices. */
const HELD_BYTES_MAX = 256 * 2 ** 20

export function createSessions(ports: SessionPorts, options: SessionOptions): Sessions {
  return new ProcessSessions(ports, options)
}

class ProcessSessions implements Sessions {
  readonly #ports: SessionPorts
  readonly #shared: Shared
  readonly #lanes: number
  readonly #rechecks: Rechecks
  readonly #connections = new Set<Connection>()
  /** Most devices have one. */
  readonly #byDevice = new Map<DeviceId, readonly Connection[]>()
  readonly #presence: Presence
  readonly #stopNotices: () => void
  #stopTimer: () => void
  #isLeaving = false
  #opened = 0
  #nextWriteMs: number
  #drained: Promise<void> | undefined
  #whenEmpty: (() => void) | undefined

  constructor(ports: SessionPorts, options: SessionOptions) {
    this.#ports = ports
    this.#lanes = options.lanes
    this.#presence = new Presence(ports)
    this.#rechecks = new Rechecks(ports)
    const { meter } = ports
    const { heldBytesMax = HELD_BYTES_MAX } = options
    this.#shared = {
      devices: ports.devices,
      subscriptions: ports.subscriptions,
      feed: ports.feed,
      logger: ports.logger,
      nowMs: ports.nowMs,
      monotonicMs: ports.monotonicMs,
      random: ports.random,
      soon: ports.soon,
      admission: ports.admission,
      listeners: new ChannelListeners<Connection>(ports.bus, (connection, news) => {
        connection.feed({ kind: 'announced', ...news })
      }),
      held: new Held(heldBytesMax, meter.counter('sessions_sent_away_total', {})),
      ticks: new Ticks<Connection>(ports.monotonicMs()),
      reads: new Limiter({ places: READS_AT_ONCE, waitingMax: READS_WAITING_MAX }),
      acknowledgements: new Acknowledgements(ports, ACKNOWLEDGEMENTS_WAITING_MAX),
      delivered: {
        live: meter.counter('deliveries_total', { mode: 'live' }),
        replay: meter.counter('deliveries_total', { mode: 'replay' }),
      },
      newSessionId: () => ports.entropy(16).toString('hex'),
      ended: endCounter(meter),
      identified: (connection) => this.#identified(connection),
      begun: (connection) => this.#begun(connection),
      left: (connection) => this.#left(connection),
    }
    this.#stopNotices = ports.bus.onNotice((notice) => this.#noticed(notice))
    this.#nextWriteMs = ports.monotonicMs() + WRITE_EVERY_MS
    this.#stopTimer = ports.timers.after(SLICE_MS, () => this.#tick())
    observeSessions(meter, this.#connections, this.#shared)
  }

  open(carrier: Carrier): SessionHandle {
    this.#opened += 1
    const connection = new Connection(carrier, new Rank(this.#opened), this.#shared)
    this.#connections.add(connection)
    if (this.#isLeaving) connection.leave('shutdown')
    return connection
  }

  drain(): Promise<void> {
    return (this.#drained ??= this.#drain())
  }

  async #drain(): Promise<void> {
    this.#isLeaving = true
    for (const connection of this.#connections) connection.leave('shutdown')
    if (this.#connections.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#whenEmpty = resolve
      await promise
    }
    await this.#write() // sessions/2
  }

  async close(): Promise<void> {
    this.#isLeaving = true
    this.#stopTimer()
    this.#stopNotices()
    this.#shared.reads.clear()
    for (const connection of this.#connections) connection.end(CLOSE.goingAway, 'going away')
    await this.#write() // sessions/2
  }

  count(): number {
    return this.#connections.size
  }

  recheck(): void {
    for (const connection of this.#connections) this.#rechecks.soon(connection)
  }

  /** Rechecks the sessions of a lane with a new owner. (sessions/3) */
  #laneTaken(lane: number): void {
    const isOfLane = (channelId: ChannelId): boolean => laneOf(channelId, this.#lanes) === lane
    const concerned = this.#shared.listeners.membersAmong(isOfLane)
    for (const connection of concerned) this.#rechecks.soon(connection)
  }

  /** Waits for the store at most WRITE_WITHIN_MS. (sessions/2) */
  async #write(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = this.#ports.timers.after(WRITE_WITHIN_MS, resolve)
    await Promise.race([this.#shared.acknowledgements.flushAll(), promise])
    cancel()
  }

  #tick(): void {
    const nowMs = this.#ports.monotonicMs()
    for (const connection of this.#shared.ticks.due(nowMs)) connection.feed({ kind: 'tick' })
    if (nowMs >= this.#nextWriteMs) {
      this.#nextWriteMs = nowMs + WRITE_EVERY_MS
      void this.#shared.acknowledgements.flush()
      this.#presence.report(this.#byDevice.keys())
    }
    this.#stopTimer = this.#ports.timers.after(SLICE_MS, () => this.#tick())
  }

  #connectionsOf(deviceId: DeviceId): readonly Connection[] {
    return this.#byDevice.get(deviceId) ?? []
  }

  #identified(connection: Connection): void {
    const { deviceId } = connection
    if (deviceId === undefined) return
    const others = this.#connectionsOf(deviceId).filter((each) => each !== connection)
    this.#byDevice.set(deviceId, others.concat(connection))
  }

  #begun(connection: Connection): void {
    const { deviceId, carrier, rank } = connection
    if (deviceId === undefined) return
    this.#presence.arrived(deviceId)
    for (const other of this.#connectionsOf(deviceId)) {
      if (other === connection || other.carrier.kind !== carrier.kind) continue
      if (other.rank.isOlderThan(rank)) {
        rank.succeed(other.rank)
        other.leave('replaced') // sessions/1
        // sessions/1
      } else if (other.session.phase === 'serving') return connection.leave('replaced')
    }
    if (rank.isOver) return connection.leave('replaced') // sessions/1
    const { number } = rank
    this.#ports.bus.notify({ kind: 'session-opened', deviceId, carrier: carrier.kind, number })
  }

  #left(connection: Connection): void {
    this.#connections.delete(connection)
    this.#shared.ticks.remove(connection)
    const { deviceId } = connection
    if (deviceId !== undefined) {
      const others = this.#connectionsOf(deviceId).filter((each) => each !== connection)
      if (others.length === 0) this.#byDevice.delete(deviceId)
      else this.#byDevice.set(deviceId, others)
    }
    if (this.#connections.size === 0) this.#whenEmpty?.()
  }

  #noticed(notice: Notice): void {
    switch (notice.kind) {
      case 'subscribed':
        for (const connection of this.#connectionsOf(notice.deviceId))
          connection.subscribed(notice.channelId)
        break
      case 'unsubscribed':
        this.#shared.acknowledgements.forget(notice)
        for (const connection of this.#connectionsOf(notice.deviceId)) {
          connection.unsubscribed(notice.channelId, 'unsubscribed')
        }
        break
      case 'channel-deleted':
        for (const connection of this.#shared.listeners.membersOf(notice.channelId)) {
          connection.unsubscribed(notice.channelId, 'channel_deleted')
        }
        break
      case 'channel-renamed':
        for (const connection of this.#shared.listeners.membersOf(notice.channelId)) {
          connection.feed(notice)
        }
        break
      case 'session-opened':
        for (const connection of this.#connectionsOf(notice.deviceId)) {
          if (connection.carrier.kind === notice.carrier) endIfReplaced(connection, notice.number)
        }
        break
      case 'lane-taken':
        this.#laneTaken(notice.lane)
        break
      case 'applied':
      case 'credentials-changed':
      case 'mappings-changed':
      case 'pushes-queued':
      case 'leases-changed':
      case 'providers':
        break
    }
  }
}

/**
 * Ends a session that another one with this number replaces. A session that has not begun checks
 * when it begins, since its own number may still grow. (sessions/1)
 */
function endIfReplaced(connection: Connection, number: number): void {
  connection.rank.otherBegan(number)
  const hasBegun = connection.session.phase === 'serving'
  if (hasBegun && connection.rank.isOver) connection.leave('replaced')
}

// A device over a simulated network: it folds what it gets, acknowledges it, and comes back. It
// reads the protocol by itself.

import { createHash } from 'node:crypto'

import { between } from './chance.ts'
import { Connection } from './device-connection.ts'
import type { Destination, Network } from './device-connection.ts'
import type { Observations } from './observations.ts'

interface Frame {
  readonly type: string
  readonly channel_id: string
  readonly seq: number
  readonly op_id: string
  readonly model: string
  readonly action: string
  readonly entity_id: string
  readonly state?: string
  readonly payload: { readonly attrs?: Readonly<Record<string, unknown>> }
  readonly channels: readonly { readonly channel_id: string }[]
  readonly reason?: string
  readonly restart?: boolean
  readonly from: number
  readonly retry_after_ms?: number
  readonly t?: unknown
}

interface Channel {
  /** The seq up to which it knows everything; 0 for nothing. */
  cursor: number
  readonly things: Map<string, Map<string, unknown>>
}

export interface DeviceParts extends Network {
  readonly name: string
  readonly deviceKey: string
  readonly observations: Observations
  /** A gateway that takes connections; undefined while there is none. */
  readonly find: () => Destination | undefined
}

/** The name of a device in the store. */
export const deviceIdOf = (deviceKey: string): string =>
  createHash('sha256').update(deviceKey).digest('hex')

export class SimulatedDevice {
  readonly name: string
  readonly deviceId: string
  readonly got = new Set<string>()
  readonly channels = new Map<string, Channel>()
  readonly #parts: DeviceParts
  #connection: Connection | undefined

  constructor(parts: DeviceParts) {
    this.#parts = parts
    this.name = parts.name
    this.deviceId = deviceIdOf(parts.deviceKey)
    this.#later(between(parts.chance, 0, 2_000))
  }

  get isOnline(): boolean {
    return this.#connection?.isWelcome === true
  }

  get values() {
    return new Map([...this.channels].map(([id, { things }]) => [id, things] as const))
  }

  /** The network breaks; the gateway learns of it at once or never. */
  cut(): void {
    const connection = this.#connection
    if (connection === undefined) return
    connection.break(this.#parts.chance(2) === 0)
    this.#ended(connection, between(this.#parts.chance, 50, 3_000))
  }

  /** Loses what it knows of its channels, and its connection. */
  wipe(): void {
    for (const id of this.channels.keys()) this.channels.set(id, newChannel())
    this.cut()
  }

  #later(delayMs: number): void {
    this.#parts.time.after(delayMs, () => this.#connect())
  }

  #connect(): void {
    if (this.#connection !== undefined) return
    const found = this.#parts.find()
    if (found === undefined) return this.#later(between(this.#parts.chance, 200, 2_000))
    const connection: Connection = new Connection(this.#parts, found, {
      hear: (text) => this.#hear(connection, text),
      end: (delayMs) => this.#ended(connection, delayMs),
    })
    this.#connection = connection
    const cursors = Object.fromEntries([...this.channels].map(([id, { cursor }]) => [id, cursor]))
    const isNew = this.channels.size === 0
    connection.seen = new Map()
    connection.say({ type: 'hello', device_key: this.#parts.deviceKey, ...(!isNew && { cursors }) })
  }

  #ended(connection: Connection, delayMs: number): void {
    if (this.#connection !== connection) return
    this.#connection = undefined
    this.#later(delayMs)
  }

  #hear(connection: Connection, text: string): void {
    const frame = JSON.parse(text) as Frame
    this.#parts.observations.note(`${this.name} < ${summary(frame)}`)
    switch (frame.type) {
      case 'welcome':
        return this.#welcome(connection, frame)
      case 'deliver':
        return this.#deliver(connection, frame)
      case 'caught_up':
        return this.#move(frame.channel_id, frame.seq)
      case 'gap':
        return this.#gap(connection, frame)
      case 'subscribed':
        this.#channel(frame.channel_id)
        return
      case 'unsubscribed':
        this.channels.delete(frame.channel_id)
        connection.seen.delete(frame.channel_id)
        return
      case 'ping':
        connection.say({ type: 'pong', ...(frame.t !== undefined && { t: frame.t }) })
        return
      case 'goaway':
        connection.break(true)
        this.#ended(connection, frame.retry_after_ms ?? between(this.#parts.chance, 50, 1_000))
        return
    }
  }

  /** Its memory has no place in channels that it no longer has. */
  #welcome(connection: Connection, { channels }: Frame): void {
    connection.isWelcome = true
    const listed = new Set(channels.map(({ channel_id: id }) => id))
    for (const id of this.channels.keys()) if (!listed.has(id)) this.channels.delete(id)
    for (const id of listed) this.#channel(id)
  }

  #deliver(connection: Connection, frame: Frame): void {
    const { channel_id: id, seq, model, op_id: opId } = frame
    const seen = connection.seen.get(id) ?? 0
    if (seq <= seen) {
      const detail = `${this.name} got ${seq} of ${id} behind ${seen}`
      this.#parts.observations.break('a device never goes backward within a session', detail)
    }
    connection.seen.set(id, seq)
    connection.acknowledge(id, seq)
    const channel = this.#channel(id)
    if (model !== 'thing') this.got.add(opId)
    if (seq <= channel.cursor) return
    channel.cursor = seq
    if (model === 'thing') foldThing(channel.things, frame)
  }

  #gap(connection: Connection, { channel_id: id, reason, restart }: Frame): void {
    const channel = this.#channel(id)
    if (reason === 'reset') {
      const detail = `${this.name} was told so of ${id}`
      this.#parts.observations.break('a feed never loses entries', detail)
    }
    if (restart === true) channel.things.clear()
    if (restart === true) channel.cursor = 0
    connection.seen.delete(id)
  }

  #move(id: string, seq: number): void {
    const channel = this.#channel(id)
    channel.cursor = Math.max(channel.cursor, seq)
  }

  #channel(id: string): Channel {
    const known = this.channels.get(id)
    if (known !== undefined) return known
    const made = newChannel()
    this.channels.set(id, made)
    return made
  }
}

const newChannel = (): Channel => ({ cursor: 0, things: new Map() })

function foldThing(things: Map<string, Map<string, unknown>>, frame: Frame): void {
  const { entity_id: thingId, action, state, payload } = frame
  if (state === 'deleted') return void things.delete(thingId)
  const before = action === 'sync' ? undefined : things.get(thingId)
  const values = before ?? new Map<string, unknown>()
  for (const [key, value] of Object.entries(payload.attrs ?? {})) {
    if (value === null) values.delete(key)
    else values.set(key, value)
  }
  things.set(thingId, values)
}

const summary = ({ type, channel_id: id, seq, action, op_id: opId, reason }: Partial<Frame>) =>
  [type, id?.slice(0, 4), seq, action, opId, reason].filter((part) => part !== undefined).join(' ')

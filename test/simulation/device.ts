// A device over a simulated network: it folds what it gets, acknowledges it, and comes back. It
// reads the protocol by itself.

import { createHash } from 'node:crypto'

import type { Carrier, SessionHandle } from '#src/transports/carrier'
import type { Sessions } from '#src/transports/sessions'
import { between } from './chance.ts'
import type { Chance } from './chance.ts'
import type { Observations } from './observations.ts'
import type { Owner, VirtualTime } from './virtual-time.ts'

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

/** Where a device finds a gateway. */
export interface Destination {
  readonly sessions: Sessions
  readonly owner: Owner
}

export interface DeviceParts {
  readonly name: string
  readonly deviceKey: string
  readonly time: VirtualTime
  readonly chance: Chance
  readonly observations: Observations
  readonly delayMs: () => number
  /** A gateway that takes connections; undefined while there is none. */
  readonly find: () => Destination | undefined
}

const SILENT_MS = 60_000

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
    this.deviceId = createHash('sha256').update(parts.deviceKey).digest('hex')
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

const summary = ({ type, channel_id: id, seq, op_id: opId, reason }: Partial<Frame>): string =>
  [type, id?.slice(0, 4), seq, opId, reason].filter((part) => part !== undefined).join(' ')

interface Handlers {
  readonly hear: (text: string) => void
  /** Called when the connection has ended; the device comes back after a delay. */
  readonly end: (delayMs: number) => void
}

/** One connection of a device to one process. */
class Connection implements Carrier {
  readonly kind = 'wss'
  readonly openingMs = 0
  readonly address = '192.0.2.1'
  readonly authorization = ''
  isWelcome = false
  /** The last seq of each channel in this session. */
  seen = new Map<string, number>()
  readonly #parts: DeviceParts
  readonly #owner: Owner
  readonly #handlers: Handlers
  #handle: SessionHandle | undefined
  #isBroken = false
  #isClosed = false
  #arrivals = { there: 0, back: 0 }
  #unacknowledged = new Map<string, number>()
  #heardMs: number

  constructor(parts: DeviceParts, { sessions, owner }: Destination, handlers: Handlers) {
    this.#parts = parts
    this.#owner = owner
    this.#handlers = handlers
    this.#heardMs = parts.time.now
    this.#pass('there', () => {
      this.#handle = sessions.open(this)
    })
    this.#watch()
  }

  say(frame: object): void {
    const text = JSON.stringify(frame)
    this.#pass('there', () => this.#handle?.receive(text))
  }

  /** Acknowledges what came together, once. */
  acknowledge(channelId: string, seq: number): void {
    const isFirst = this.#unacknowledged.size === 0
    this.#unacknowledged.set(channelId, seq)
    if (!isFirst) return
    this.#parts.time.after(between(this.#parts.chance, 0, 50), () => {
      const acknowledged = [...this.#unacknowledged]
      this.#unacknowledged.clear()
      for (const [id, upTo] of acknowledged) this.say({ type: 'ack', channel_id: id, seq: upTo })
    })
  }

  /** The device is gone; `isTold`: the gateway learns of it. */
  break(isTold: boolean): void {
    if (isTold) this.#pass('there', () => this.#handle?.closed())
    this.#isBroken = true
  }

  send(texts: readonly string[]): number | 'closed' {
    if (this.#isClosed) return 'closed'
    this.#pass('back', () => {
      this.#heardMs = this.#parts.time.now
      for (const text of texts) if (!this.#isBroken) this.#handlers.hear(text)
    })
    return 0
  }

  close(): void {
    this.#close()
  }

  cut(): void {
    this.#close()
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#parts.time.after(0, () => this.#handle?.closed(), this.#owner)
    this.#pass('back', () => this.#handlers.end(between(this.#parts.chance, 50, 1_000)))
  }

  #pass(way: 'there' | 'back', arrive: () => void): void {
    const { time, delayMs } = this.#parts
    if (this.#isBroken) return
    const at = Math.max(this.#arrivals[way], time.now + delayMs())
    this.#arrivals[way] = at
    const arrived = (): void => {
      if (way === 'there' ? !this.#isClosed : !this.#isBroken) arrive()
    }
    time.after(at - time.now, arrived, way === 'there' ? this.#owner : undefined)
  }

  /** A connection to a process that is gone, or silent for too long. */
  #watch(): void {
    this.#parts.time.after(1_000, () => {
      if (this.#isBroken || this.#isClosed) return
      const isSilent = this.#parts.time.now - this.#heardMs > SILENT_MS
      if (this.#owner.state !== 'dead' && !isSilent) return this.#watch()
      this.break(true)
      this.#handlers.end(between(this.#parts.chance, 50, 2_000))
    })
  }
}

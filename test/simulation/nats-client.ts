// The client side of the simulated NATS: the connection of one thread of a process. Messages of one
// direction keep their order. A connection that a partition cuts for long is lost with everything
// that is under way, and made anew when the network is whole.

import { errors } from '@nats-io/transport-node'
import type { NatsConnection, Status, SubscriptionOptions } from '@nats-io/transport-node'

import { matches } from './jetstream.ts'
import { MemoryMessage } from './nats-message.ts'
import type { NatsServer } from './nats-server.ts'
import type { Owner, VirtualTime } from './virtual-time.ts'

/** The network between a process and NATS. */
export interface Link {
  /** Milliseconds of the way there or back. */
  readonly delayMs: () => number
  /** True while nothing passes in this direction. */
  readonly isCut: (way: 'there' | 'back') => boolean
}

interface Subscribed {
  readonly take: NonNullable<SubscriptionOptions['callback']>
  isOpen: boolean
}

/** The client pings every second, and gives a connection up after two pings without an answer. */
const PING_MS = 1_000
const LOST_AFTER_MS = 3_000
const RECONNECT_MS = 200

const encoder = new TextEncoder()
const bytesOf = (data: string | Uint8Array = ''): Uint8Array =>
  typeof data === 'string' ? encoder.encode(data) : data

export class NatsClient {
  readonly #parts: ClientParts
  /** By filter. */
  readonly #subscribed = new Map<string, Set<Subscribed>>()
  /** The filters that are patterns. */
  readonly #patterns = new Set<string>()
  /** What each subject fits, until a subscription comes or goes. */
  readonly #found = new Map<string, readonly Subscribed[]>()
  readonly #statuses: Status[] = []
  /** Messages that the network holds back, in both directions. */
  readonly #held: (() => void)[] = []
  #wake: () => void = () => undefined
  #isClosed = false
  #isConnected = true
  /** Grows with each connection: what was under way on an earlier one never arrives. */
  #number = 0
  #arrivals = { there: 0, back: 0 }
  #cutSinceMs: number | undefined

  constructor(parts: ClientParts) {
    this.#parts = parts
    parts.server.clients.add(this)
    this.#ping()
  }

  /** True while the server has this connection. */
  get isHere(): boolean {
    return this.#isConnected && !this.#isClosed && this.#parts.owner.state !== 'dead'
  }

  /** True once its process has ended. */
  get isDead(): boolean {
    return this.#parts.owner.state === 'dead'
  }

  /** What the product sees. */
  connection(): NatsConnection {
    const part = {
      info: { max_payload: 8 * 2 ** 20, version: '2.9.10', server_id: 'simulated' },
      options: { inboxPrefix: '_INBOX' },
      features: { get: () => ({ ok: true, min: '2.0.0' }) },
      getServer: () => 'nats:4222',
      getServerVersion: () => ({ major: 2, minor: 9, micro: 10 }),
      status: () => this.#follow(),
      publish: this.#publish,
      subscribe: (filter: string, { callback }: SubscriptionOptions) =>
        this.#listen(filter, callback),
      request: this.#request.bind(this),
      flush: () => this.#flush(),
      drain: async () => this.#end(),
      close: async () => this.#end(),
    }
    return part as unknown as NatsConnection
  }

  /** Gives a message to the subscriptions that it fits; returns their number. */
  deliver(message: MemoryMessage, inbox = message.subject): number {
    if (!this.isHere) return 0
    const found = this.#fitting(inbox)
    if (found.length === 0) return 0
    this.#pass('back', () => {
      const received = message.reply === '' ? message : message.answeredBy(this.#publish)
      for (const one of found) if (one.isOpen) void one.take(null, received.asMsg())
    })
    return found.length
  }

  readonly #publish = (
    subject: string,
    data?: string | Uint8Array,
    options?: { readonly reply?: string },
  ): void => this.#send(new MemoryMessage(subject, bytesOf(data), options))

  #listen(filter: string, callback: SubscriptionOptions['callback']) {
    const one: Subscribed = { take: callback ?? (() => undefined), isOpen: true }
    const same = this.#subscribed.get(filter) ?? new Set()
    this.#subscribed.set(filter, same.add(one))
    if (/[*>]/.test(filter)) this.#patterns.add(filter)
    this.#found.clear()
    const unsubscribe = (): void => {
      one.isOpen = false
      this.#found.clear()
      if (!same.delete(one) || same.size > 0) return
      this.#subscribed.delete(filter)
      this.#patterns.delete(filter)
    }
    return { unsubscribe }
  }

  /** The subscriptions that a subject fits. */
  #fitting(subject: string): readonly Subscribed[] {
    const known = this.#found.get(subject)
    if (known !== undefined) return known
    const found = [...(this.#subscribed.get(subject) ?? [])]
    for (const pattern of this.#patterns) {
      if (matches(pattern, subject)) found.push(...(this.#subscribed.get(pattern) ?? []))
    }
    this.#found.set(subject, found)
    return found
  }

  #request(
    subject: string,
    data: Uint8Array | undefined,
    options: { readonly timeout: number; readonly headers?: Iterable<[string, string[]]> },
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = this.#parts.after(options.timeout, () => reject(new errors.TimeoutError()))
      const values: Record<string, string> = {}
      for (const [name, [value = '']] of options.headers ?? []) values[name] = value
      const message = new MemoryMessage(subject, bytesOf(data), { values, reply: '' })
      this.#send(message, (response) => {
        this.#pass('back', () => {
          timer()
          resolve(response.asMsg())
        })
      })
    })
  }

  #flush(): Promise<void> {
    return new Promise((resolve, reject) => {
      const number = this.#number
      const cancel = this.#parts.after(LOST_AFTER_MS + PING_MS, () => {
        if (number !== this.#number) reject(new errors.ClosedConnectionError())
        else resolve()
      })
      this.#pass('there', () =>
        this.#pass('back', () => {
          cancel()
          resolve()
        }),
      )
    })
  }

  #send(message: MemoryMessage, respond?: (response: MemoryMessage) => void): void {
    if (!this.isHere) return
    this.#pass('there', () => this.#parts.server.take(this, message, respond))
  }

  /** Carries something in one direction, behind everything before it. */
  #pass(way: 'there' | 'back', arrive: () => void): void {
    const { time, link, owner } = this.#parts
    const number = this.#number
    const at = Math.max(this.#arrivals[way], time.now + link.delayMs())
    this.#arrivals[way] = at
    const arrived = (): void => {
      if (number !== this.#number || this.#isClosed) return
      if (link.isCut(way)) this.#held.push(arrived)
      else arrive()
    }
    time.after(at - time.now, arrived, way === 'back' ? owner : undefined)
  }

  /** Notices a connection that is cut, and one that works again. */
  #ping(): void {
    const { link, owner, time } = this.#parts
    time.after(
      this.#isConnected ? PING_MS : RECONNECT_MS,
      () => {
        if (this.#isClosed) return
        const isCut = link.isCut('there') || link.isCut('back')
        if (!isCut) {
          this.#cutSinceMs = undefined
          for (const arrived of this.#held.splice(0)) arrived()
          if (!this.#isConnected) this.#reconnect()
        } else if (this.#isConnected) {
          this.#cutSinceMs ??= time.now
          if (time.now - this.#cutSinceMs >= LOST_AFTER_MS - PING_MS) this.#lose()
        }
        this.#ping()
      },
      owner,
    )
  }

  /** Ends the connection, and begins to try again. */
  #lose(): void {
    this.#number += 1
    this.#held.length = 0
    this.#isConnected = false
    this.#arrivals = { there: 0, back: 0 }
    this.#say({ type: 'disconnect', server: 'nats:4222' })
  }

  #reconnect(): void {
    this.#isConnected = true
    this.#say({ type: 'reconnect', server: 'nats:4222' })
  }

  #say(status: Status): void {
    this.#statuses.push(status)
    this.#wake()
  }

  async *#follow(): AsyncGenerator<Status> {
    while (!this.#isClosed) {
      for (let next = this.#statuses.shift(); next !== undefined; next = this.#statuses.shift()) {
        yield next
      }
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  #end(): void {
    this.#isClosed = true
    this.#parts.server.clients.delete(this)
    this.#wake()
  }
}

export interface ClientParts {
  readonly server: NatsServer
  readonly time: VirtualTime
  readonly link: Link
  readonly owner: Owner
  /** A timer of the process. */
  readonly after: (delayMs: number, callback: () => void) => () => void
}

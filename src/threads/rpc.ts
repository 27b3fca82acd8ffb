// Carries ports over a wire between threads: one thread calls the services of another. contract.ts
// has the types of both ends.
//
// Invariants:
//   rpc/1. Messages arrive in the order of sending, calls and one-way messages alike.
//   rpc/2. All messages of one pass of the event loop cross together: a crossing costs more than
//     its content. What is told of one topic in a row is one message.
//   rpc/3. A call that can no longer get an answer rejects; no call waits for ever.

import type { PeerWire, ThreadWire, Wire } from './wire.ts'

/** A port whose methods all return a promise: only those can cross. */
type Crossing<Service> = {
  readonly [Method in keyof Service]: Service[Method] extends (
    ...values: infer _Values
  ) => Promise<unknown>
    ? Service[Method]
    : never
}

/** Services by name. The compiler refuses one with a method that cannot cross. */
export type Services<Named extends { readonly [Name in keyof Named]: Crossing<Named[Name]> }> =
  Named

/** No service, or no topic. */
export type None = Readonly<Record<never, never>>

/** Services and topics of one end of a wire. */
export interface WireEnd {
  /** Services by name. */
  readonly services: Readonly<Record<string, object>>
  /** The topics that it tells, with the type of each message. */
  readonly topics: object
}

type Envelope =
  | {
      readonly kind: 'call'
      readonly id: number
      readonly service: string
      readonly method: string
      readonly values: readonly unknown[]
    }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | {
      readonly kind: 'failure'
      readonly id: number
      readonly name: string
      readonly message: string
    }
  | { readonly kind: 'tell'; readonly topic: string; readonly values: unknown[] }

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

type Methods = Readonly<Record<string, (...values: readonly unknown[]) => Promise<unknown>>>

/**
 * One end of a wire: `Near` types its own services and topics, `Far` those of the other end. Both
 * ends can serve, call and tell.
 */
export class Rpc<Near extends WireEnd, Far extends WireEnd> {
  readonly #wire: Wire
  readonly #services = new Map<string, object>()
  readonly #listeners = new Map<string, (value: unknown) => void>()
  readonly #waiting = new Map<number, Waiting>()
  #outbox: Envelope[] = []
  #nextId = 1
  #broken: Error | undefined

  constructor(wire: Wire) {
    this.#wire = wire
    wire.on('message', (message) => {
      for (const envelope of message as readonly Envelope[]) this.#receive(envelope)
    })
  }

  /** Lets the other end call the methods of these services. */
  serve(services: Near['services']): void {
    for (const [name, service] of Object.entries(services)) this.#services.set(name, service)
  }

  /** The other end's service of that name. */
  remote<Name extends string & keyof Far['services']>(name: Name): Far['services'][Name] {
    const call =
      (method: string) =>
      (...values: readonly unknown[]): Promise<unknown> =>
        this.#call(name, method, values)
    const calls = new Map<string | symbol, unknown>()
    return new Proxy({} as object & Far['services'][Name], {
      get(_, method) {
        // `await` reads `then` of every value.
        if (typeof method !== 'string' || method === 'then') return undefined
        const known = calls.get(method) ?? call(method)
        calls.set(method, known)
        return known
      },
    })
  }

  /** Every service of the other end, by the names that it gave. */
  remotes(names: readonly string[]): Far['services'] {
    return Object.fromEntries(names.map((name) => [name, this.remote(name)]))
  }

  /** Sends a one-way message. */
  tell<Topic extends string & keyof Near['topics']>(
    topic: Topic,
    value: Near['topics'][Topic],
  ): void {
    const last = this.#outbox.at(-1)
    if (last?.kind === 'tell' && last.topic === topic) last.values.push(value) // rpc/2
    else this.#send({ kind: 'tell', topic, values: [value] })
  }

  /** Sets the one listener of a topic of the other end. */
  onTell<Topic extends string & keyof Far['topics']>(
    topic: Topic,
    listener: (value: Far['topics'][Topic]) => void,
  ): void {
    this.#listeners.set(topic, listener as (value: unknown) => void)
  }

  /** Rejects every call from now on, since the other end is gone. (rpc/3) */
  break(reason: Error): void {
    this.#broken = reason
    for (const { reject } of this.#waiting.values()) reject(reason)
    this.#waiting.clear()
  }

  #call(service: string, method: string, values: readonly unknown[]): Promise<unknown> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken)
    const id = this.#nextId++
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#send({ kind: 'call', id, service, method, values })
    })
  }

  /** Sends the messages of one pass of the event loop together. (rpc/2) */
  #send(envelope: Envelope): void {
    if (this.#outbox.push(envelope) === 1) queueMicrotask(() => this.flush())
  }

  /** Sends what waits for the end of this pass. */
  protected flush(): void {
    const envelopes = this.#outbox
    this.#outbox = []
    if (envelopes.length > 0) this.#wire.postMessage(envelopes)
  }

  #receive(envelope: Envelope): void {
    switch (envelope.kind) {
      case 'call':
        void this.#answer(envelope)
        return
      case 'tell': {
        const listener = this.#listeners.get(envelope.topic)
        for (const value of envelope.values) listener?.(value)
        return
      }
      case 'answer':
        this.#takeWaiting(envelope.id)?.resolve(envelope.value)
        return
      case 'failure':
        this.#takeWaiting(envelope.id)?.reject(
          Object.assign(new Error(envelope.message), { name: envelope.name }),
        )
        return
    }
  }

  #takeWaiting(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    return waiting
  }

  async #answer({
    id,
    service,
    method,
    values,
  }: Extract<Envelope, { kind: 'call' }>): Promise<void> {
    try {
      const target = this.#services.get(service) as Methods | undefined
      if (typeof target?.[method] !== 'function') {
        throw new TypeError(`no service has ${service}.${method}`)
      }
      const value = await target[method](...values)
      this.#send({ kind: 'answer', id, value })
    } catch (error) {
      // Only name and message cross: other properties of an error may hold secrets.
      const { name, message } = error instanceof Error ? error : new Error('not an error')
      this.#send({ kind: 'failure', id, name, message })
    }
  }
}

/** The end of a thread's starter. */
export class ThreadRpc<Near extends WireEnd, Far extends WireEnd> extends Rpc<Near, Far> {
  readonly #wire: ThreadWire

  constructor(wire: ThreadWire) {
    super(wire)
    this.#wire = wire
  }

  /** Tells a topic whose value is an end of a wire, which then belongs to the other thread. */
  hand<Topic extends string & WireTopics<Near>>(topic: Topic, end: PeerWire): void {
    this.flush() // rpc/1
    const envelope: Envelope = { kind: 'tell', topic, values: [end] }
    this.#wire.hand([envelope], end)
  }
}

/** The topics of an end whose value is an end of a wire. */
type WireTopics<Near extends WireEnd> = {
  [Topic in keyof Near['topics']]: Near['topics'][Topic] extends PeerWire ? Topic : never
}[keyof Near['topics']]

// Ports over a MessagePort: what stands on one thread is used on another as if it were another
// node.
//
// Invariants:
//   K1. Messages arrive in the order in which they were sent, calls and one-way messages alike.
//   K2. What is sent in one turn of the event loop crosses in one message: a crossing costs more
//       than what it carries.
//   K3. A call that can have no answer any more rejects; none waits for ever.

/** The part of MessagePort and Worker that is used. */
export interface Wire {
  postMessage(message: unknown): void
  on(event: 'message', listener: (message: unknown) => void): unknown
}

type Crossing =
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
  | { readonly kind: 'tell'; readonly topic: string; readonly value: unknown }

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

type Methods = Readonly<Record<string, (...values: readonly unknown[]) => Promise<unknown>>>

/** One end of an RPC wire. Both ends can serve, call and tell. */
export class Rpc {
  readonly #wire: Wire
  readonly #services = new Map<string, object>()
  readonly #listeners = new Map<string, (value: unknown) => void>()
  readonly #waiting = new Map<number, Waiting>()
  #outbox: Crossing[] = []
  #nextId = 1
  #broken: Error | undefined

  constructor(wire: Wire) {
    this.#wire = wire
    wire.on('message', (message) => {
      for (const crossing of message as readonly Crossing[]) this.#receive(crossing)
    })
  }

  /** Lets the other end call the methods of `service`. */
  serve(name: string, service: object): void {
    this.#services.set(name, service)
  }

  /** The other end's service of that name; every method answers with a promise. */
  remote<Service extends object>(name: string): Service {
    const call =
      (method: string) =>
      (...values: readonly unknown[]): Promise<unknown> =>
        this.#call(name, method, values)
    const calls = new Map<string | symbol, unknown>()
    return new Proxy({} as Service, {
      get(_, method) {
        // A promise asks every value whether it has `then`.
        if (typeof method !== 'string' || method === 'then') return undefined
        const known = calls.get(method) ?? call(method)
        calls.set(method, known)
        return known
      },
    })
  }

  /** Sends without waiting for anything. */
  tell(topic: string, value: unknown): void {
    this.#send({ kind: 'tell', topic, value })
  }

  onTell(topic: string, listener: (value: unknown) => void): void {
    this.#listeners.set(topic, listener)
  }

  /** K3: the other end is gone. */
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

  /** K2 */
  #send(crossing: Crossing): void {
    if (this.#outbox.push(crossing) > 1) return
    queueMicrotask(() => {
      const crossings = this.#outbox
      this.#outbox = []
      this.#wire.postMessage(crossings)
    })
  }

  #receive(crossing: Crossing): void {
    switch (crossing.kind) {
      case 'call':
        void this.#answer(crossing)
        return
      case 'tell':
        this.#listeners.get(crossing.topic)?.(crossing.value)
        return
      case 'answer':
        this.#settle(crossing.id)?.resolve(crossing.value)
        return
      case 'failure':
        this.#settle(crossing.id)?.reject(
          Object.assign(new Error(crossing.message), { name: crossing.name }),
        )
        return
    }
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    return waiting
  }

  async #answer({
    id,
    service,
    method,
    values,
  }: Extract<Crossing, { kind: 'call' }>): Promise<void> {
    try {
      const target = this.#services.get(service) as Methods | undefined
      if (typeof target?.[method] !== 'function') {
        throw new TypeError(`nothing serves ${service}.${method}`)
      }
      const value = await target[method](...values)
      this.#send({ kind: 'answer', id, value })
    } catch (error) {
      // Name and message only: an error's other properties may hold what must not travel.
      const { name, message } = error instanceof Error ? error : new Error('not an error')
      this.#send({ kind: 'failure', id, name, message })
    }
  }
}

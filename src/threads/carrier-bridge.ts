// Joins carriers in one thread with their sessions in another.
//
// Invariants:
//   carriers/1. Each end reports the end of a carrier once, and forgets the carrier.
//   carriers/2. The bytes that a carrier holds, as its session counts them, include the bytes on
//       the wire between the threads.

import type { CarrierName } from '#domain/carrier'
import type { BrokenRule, Carrier, SessionHandle } from '#src/transports/carrier'
import type { Rpc, WireEnd } from './rpc.ts'

/** Topics that the end with the carriers tells the end with the sessions. */
export interface CarrierTopics {
  readonly opened: OpenedCarrier
  readonly received: { readonly id: number; readonly text: string }
  readonly broken: { readonly id: number; readonly rule: BrokenRule }
  /** `sentBytes`: bytes of all texts that the carrier has sent so far. */
  readonly drained: { readonly id: number; readonly sentBytes: number }
  readonly closed: { readonly id: number }
}

/** Topics that the end with the sessions tells the end with the carriers. */
export interface CarrierOrders {
  readonly send: { readonly id: number; readonly texts: readonly string[] }
  readonly close: { readonly id: number; readonly code: number; readonly reason: string }
  readonly cut: { readonly id: number }
}

interface OpenedCarrier {
  readonly id: number
  readonly kind: CarrierName
  readonly address: string
  /** A secret. */
  readonly authorization: string
  readonly openingMs: number
}

type CarrierEnd = WireEnd & { readonly topics: CarrierTopics }
type SessionEnd = WireEnd & { readonly topics: CarrierOrders }
type Open = (carrier: Carrier) => SessionHandle

const bytesOf = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)

/** Opens a session of this end for each carrier of the other end. */
export function serveSessions(
  rpc: Pick<Rpc<SessionEnd, CarrierEnd>, 'tell' | 'onTell'>,
  open: Open,
): void {
  const known = new Map<
    number,
    { readonly carrier: RemoteCarrier; readonly handle: SessionHandle }
  >()
  rpc.onTell('opened', (opened) => {
    const carrier = new RemoteCarrier(opened, rpc)
    known.set(opened.id, { carrier, handle: open(carrier) })
  })
  rpc.onTell('received', ({ id, text }) => known.get(id)?.handle.receive(text))
  rpc.onTell('broken', ({ id, rule }) => known.get(id)?.handle.broken(rule))
  rpc.onTell('drained', ({ id, sentBytes }) => {
    const one = known.get(id)
    one?.handle.drained(one.carrier.drained(sentBytes))
  })
  rpc.onTell('closed', ({ id }) => {
    const one = known.get(id)
    known.delete(id) // carriers/1
    one?.carrier.ended()
    one?.handle.closed()
  })
}

class RemoteCarrier implements Carrier {
  readonly kind: CarrierName
  readonly address: string
  readonly authorization: string
  readonly openingMs: number
  readonly #id: number
  readonly #rpc: Pick<Rpc<SessionEnd, CarrierEnd>, 'tell'>
  #givenBytes = 0
  #sentBytes = 0
  #isOver = false

  constructor(opened: OpenedCarrier, rpc: Pick<Rpc<SessionEnd, CarrierEnd>, 'tell'>) {
    this.kind = opened.kind
    this.address = opened.address
    this.authorization = opened.authorization
    this.openingMs = opened.openingMs
    this.#id = opened.id
    this.#rpc = rpc
  }

  send(texts: readonly string[]): number | 'closed' {
    if (this.#isOver) return 'closed'
    this.#givenBytes += bytesOf(texts)
    this.#rpc.tell('send', { id: this.#id, texts })
    return this.#givenBytes - this.#sentBytes // carriers/2
  }

  close(code: number, reason: string): void {
    if (!this.#isOver) this.#rpc.tell('close', { id: this.#id, code, reason })
    this.#isOver = true
  }

  cut(): void {
    if (!this.#isOver) this.#rpc.tell('cut', { id: this.#id })
    this.#isOver = true
  }

  ended(): void {
    this.#isOver = true
  }

  /** Records the bytes that the carrier has sent; gives the bytes that it holds. */
  drained(sentBytes: number): number {
    this.#sentBytes = sentBytes
    return this.#givenBytes - sentBytes
  }
}

/** Returns a function that opens a session of the other end for a carrier of this end. */
export function bridgedSessions(rpc: Pick<Rpc<CarrierEnd, SessionEnd>, 'tell' | 'onTell'>): Open {
  const known = new Map<number, { readonly carrier: Carrier; givenBytes: number }>()
  let nextId = 1
  rpc.onTell('send', ({ id, texts }) => {
    const one = known.get(id)
    if (one === undefined) return
    one.givenBytes += bytesOf(texts)
    one.carrier.send(texts)
  })
  rpc.onTell('close', ({ id, code, reason }) => known.get(id)?.carrier.close(code, reason))
  rpc.onTell('cut', ({ id }) => known.get(id)?.carrier.cut())
  return (carrier) => {
    const id = nextId++
    const one = { carrier, givenBytes: 0 }
    const { kind, address, authorization, openingMs } = carrier
    known.set(id, one)
    rpc.tell('opened', { id, kind, address, authorization, openingMs })
    return {
      receive: (text) => rpc.tell('received', { id, text }),
      broken: (rule) => rpc.tell('broken', { id, rule }),
      drained: (bytes) =>
        rpc.tell('drained', { id, sentBytes: Math.max(0, one.givenBytes - bytes) }),
      closed: () => {
        if (known.delete(id)) rpc.tell('closed', { id }) // carriers/1
      },
    }
  }
}

// Joins carriers in one thread with their sessions in another.
//
// Invariants:
//   carriers/1. Both ends say once that a carrier is gone, and forget it.
//   carriers/2. The bytes that a session believes its carrier to hold include the bytes on their
//       way there.

import type { CarrierName } from '#domain/carrier'
import type { BrokenRule, Carrier, SessionHandle } from '#src/transports/carrier'
import type { Rpc, WireEnd } from './rpc.ts'

/** Topics that the end with the carriers tells the end with the sessions. */
export interface CarrierTopics {
  readonly opened: Opening
  readonly received: { readonly id: number; readonly text: string }
  readonly broken: { readonly id: number; readonly rule: BrokenRule }
  /** `left`: bytes of all texts so far that have left the carrier. */
  readonly drained: { readonly id: number; readonly left: number }
  readonly closed: { readonly id: number }
}

/** Topics that the end with the sessions tells the end with the carriers. */
export interface CarrierOrders {
  readonly send: { readonly id: number; readonly texts: readonly string[] }
  readonly close: { readonly id: number; readonly code: number; readonly reason: string }
  readonly cut: { readonly id: number }
}

interface Opening {
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

/** Opens a session here for each carrier of the other end. */
export function openSessions(
  rpc: Pick<Rpc<SessionEnd, CarrierEnd>, 'tell' | 'onTell'>,
  open: Open,
): void {
  const known = new Map<number, { readonly carrier: FarCarrier; readonly handle: SessionHandle }>()
  rpc.onTell('opened', (opening) => {
    const carrier = new FarCarrier(opening, rpc)
    known.set(opening.id, { carrier, handle: open(carrier) })
  })
  rpc.onTell('received', ({ id, text }) => known.get(id)?.handle.receive(text))
  rpc.onTell('broken', ({ id, rule }) => known.get(id)?.handle.broken(rule))
  rpc.onTell('drained', ({ id, left }) => {
    const one = known.get(id)
    one?.handle.drained(one.carrier.leave(left))
  })
  rpc.onTell('closed', ({ id }) => {
    const one = known.get(id)
    known.delete(id) // carriers/1
    one?.carrier.gone()
    one?.handle.closed()
  })
}

class FarCarrier implements Carrier {
  readonly kind: CarrierName
  readonly address: string
  readonly authorization: string
  readonly openingMs: number
  readonly #id: number
  readonly #rpc: Pick<Rpc<SessionEnd, CarrierEnd>, 'tell'>
  #said = 0
  #left = 0
  #isOver = false

  constructor(opening: Opening, rpc: Pick<Rpc<SessionEnd, CarrierEnd>, 'tell'>) {
    this.kind = opening.kind
    this.address = opening.address
    this.authorization = opening.authorization
    this.openingMs = opening.openingMs
    this.#id = opening.id
    this.#rpc = rpc
  }

  send(texts: readonly string[]): number | 'closed' {
    if (this.#isOver) return 'closed'
    this.#said += bytesOf(texts)
    this.#rpc.tell('send', { id: this.#id, texts })
    return this.#said - this.#left // carriers/2
  }

  close(code: number, reason: string): void {
    if (!this.#isOver) this.#rpc.tell('close', { id: this.#id, code, reason })
    this.#isOver = true
  }

  cut(): void {
    if (!this.#isOver) this.#rpc.tell('cut', { id: this.#id })
    this.#isOver = true
  }

  gone(): void {
    this.#isOver = true
  }

  /** Counts bytes that have left; gives the bytes that are held. */
  leave(left: number): number {
    this.#left = left
    return this.#said - left
  }
}

/** Gives the carriers of this end to the sessions of the other one. */
export function lendCarriers(rpc: Pick<Rpc<CarrierEnd, SessionEnd>, 'tell' | 'onTell'>): Open {
  const known = new Map<number, { readonly carrier: Carrier; given: number }>()
  let nextId = 1
  rpc.onTell('send', ({ id, texts }) => {
    const one = known.get(id)
    if (one === undefined) return
    one.given += bytesOf(texts)
    one.carrier.send(texts)
  })
  rpc.onTell('close', ({ id, code, reason }) => known.get(id)?.carrier.close(code, reason))
  rpc.onTell('cut', ({ id }) => known.get(id)?.carrier.cut())
  return (carrier) => {
    const id = nextId++
    const one = { carrier, given: 0 }
    const { kind, address, authorization, openingMs } = carrier
    known.set(id, one)
    rpc.tell('opened', { id, kind, address, authorization, openingMs })
    return {
      receive: (text) => rpc.tell('received', { id, text }),
      broken: (rule) => rpc.tell('broken', { id, rule }),
      drained: (bytes) => rpc.tell('drained', { id, left: Math.max(0, one.given - bytes) }),
      closed: () => {
        if (known.delete(id)) rpc.tell('closed', { id }) // carriers/1
      },
    }
  }
}

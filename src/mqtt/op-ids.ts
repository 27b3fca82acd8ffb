// The op_ids of publishes, and what follows from them.

import { hash } from 'node:crypto'

import { keepNewest } from '#domain/bounds/newest'
import { parseOperationId } from '#domain/identity'
import type { OperationId } from '#domain/identity'
import type { MadeIds } from '#src/acceptance/submissions'
import { TTL_MAX_MS } from '#src/schemas/message'
import type { Publication } from './publishes.ts'

/** The same for the same op_id: a submission that comes again is the same. */
export const madeFrom = (
  opId: OperationId,
  more: Pick<MadeIds, 'keep' | 'mayRepeat'> = {},
): MadeIds => ({
  ...more,
  opId,
  entityHex: () => hash('sha256', opId, 'hex').slice(0, 32),
})

/** A publish of several submissions has an op_id for each. */
export const nthOf = (opId: OperationId, index: number): OperationId =>
  index === 0 ? opId : (parseOperationId(`${opId}:${index}`) ?? opId)

/** Returns the fields of a Message that its properties set; its payload overrides them. */
export const saidOf = ({
  opId,
  expirySeconds = 0,
}: Publication): Readonly<Record<string, unknown>> => ({
  ...(opId !== undefined && { op_id: opId }),
  ...(expirySeconds > 0 && { ttl: Math.min(expirySeconds, TTL_MAX_MS / 1_000) }),
})

/** Own publishes that are remembered until the feed brings them. */
const OWN_MAX = 1_024

/** The op_ids of recent publishes of a client, once somebody asks for them. */
export class OwnOpIds {
  #own: Set<OperationId> | undefined

  get isAsked(): boolean {
    return this.#own !== undefined
  }

  remember(): void {
    this.#own ??= new Set()
  }

  has(opId: OperationId): boolean {
    return this.#own?.has(opId) === true
  }

  note(opId: OperationId): void {
    if (this.#own === undefined) return
    this.#own.add(opId)
    keepNewest(this.#own, OWN_MAX)
  }
}

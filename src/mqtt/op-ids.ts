// What follows from the op_id of a publish.

import { hash } from 'node:crypto'

import { parseOperationId } from '#domain/identity'
import type { OperationId } from '#domain/identity'
import type { MadeIds } from '#src/acceptance/submissions'

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

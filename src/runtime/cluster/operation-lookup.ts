// The operations of the database and, before they are there, of whoever accepted them.
//
// Invariants:
//   lookup/1. "There is none" is said only after every other node has said so. A question that
//             could not be asked has no answer.

import { isGatewayForm } from '#domain/identity'
import type { OperationId } from '#domain/identity'
import type { Operation } from '#domain/operation'
import { STORE_BUSY } from '#domain/store-ports'
import type { OperationStore } from '#domain/store-ports'

/** Asks the other processes. */
export interface Inquiry {
  /** `unasked` when they may not have heard the question. */
  ask(opId: OperationId): Promise<Operation | 'unasked' | undefined>
}

/**
 * Asks the database once more at the end: an operation leaves its acceptor only when the database
 * has it. A database that is away the first time may be so the whole time: the others are asked all
 * the same. For a claim the others are asked first, for the same reason, and only when one of them
 * can have made the op_id: what clients chose is claimed, so the database knows it.
 */
export function findingEverywhere(operations: OperationStore, inquiry: Inquiry): OperationStore {
  const isElsewhere = async (opId: OperationId): Promise<boolean> => {
    if (!isGatewayForm(opId)) return false
    const asked = await inquiry.ask(opId)
    if (asked === 'unasked') throw unasked() // lookup/1
    return asked !== undefined
  }
  return {
    claim: async (claim, expiredBefore, isPending = false) =>
      operations.claim(claim, expiredBefore, isPending || (await isElsewhere(claim.opId))),
    find: async (opId) => {
      const known = await operations.find(opId).catch(() => undefined)
      if (known !== undefined) return known
      const asked = await inquiry.ask(opId)
      if (asked !== undefined && asked !== 'unasked') return asked
      const applied = await operations.find(opId)
      if (applied === undefined && asked === 'unasked') throw unasked() // lookup/1
      return applied
    },
  }
}

/** Answered as a store is that has too much to do: the same question later has an answer. */
const unasked = (): Error =>
  Object.assign(new Error('the other nodes could not be asked'), { name: STORE_BUSY })

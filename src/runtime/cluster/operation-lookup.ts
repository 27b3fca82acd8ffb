// Looks operations up in the database and, before they are there, in the process that accepted
// them.
//
// Invariants:
//   lookup/1. A look-up finds nothing only when every other node says so. It rejects when it could
//             not ask a node.

import { isGatewayForm } from '#domain/identity'
import type { OperationId } from '#domain/identity'
import type { Operation, OperationStore } from '#domain/operation'
import { STORE_BUSY } from '#domain/store-ports'

/** Asks the other processes. */
interface Inquiry {
  /** Returns `unasked` when a process may not have received the question. */
  ask(opId: OperationId): Promise<Operation | 'unasked' | undefined>
}

/**
 * Asks the database, then the other processes, then the database again: an acceptor drops an
 * operation only once the database has it. It asks the others also when the database does not
 * answer at first. A claim asks the others first, for the same reason, and only for op_ids that a
 * gateway made: the database knows every op_id that a client chose, because the client's
 * submission claimed it.
 */
export function operationsOfAllNodes(operations: OperationStore, inquiry: Inquiry): OperationStore {
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

/** The error of a busy store: the same question may succeed later. */
const unasked = (): Error =>
  Object.assign(new Error('the other nodes could not be asked'), { name: STORE_BUSY })

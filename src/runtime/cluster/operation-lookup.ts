// The operations of the database and, before they are there, of whoever accepted them.

import { isGatewayForm } from '#domain/identity'
import type { OperationId } from '#domain/identity'
import type { Operation } from '#domain/operation'
import type { OperationStore } from '#domain/store-ports'

/** Asks the other processes. */
export interface Inquiry {
  ask(opId: OperationId): Promise<Operation | undefined>
}

/**
 * The database is asked once more at the end: an operation leaves its acceptor only when the
 * database has it. A database that is away the first time may be so the whole time: its acceptor is
 * asked all the same. For a claim the others are asked first, for the same reason, and only when
 * one of them can have made the op_id: what clients chose is claimed, so the database knows it.
 */
export function findingEverywhere(operations: OperationStore, inquiry: Inquiry): OperationStore {
  const isElsewhere = async (opId: OperationId): Promise<boolean> =>
    isGatewayForm(opId) && (await inquiry.ask(opId)) !== undefined
  return {
    claim: async (claim, expiredBefore, isPending = false) =>
      operations.claim(claim, expiredBefore, isPending || (await isElsewhere(claim.opId))),
    find: async (opId) =>
      (await operations.find(opId).catch(() => undefined)) ??
      (await inquiry.ask(opId)) ??
      (await operations.find(opId)),
  }
}

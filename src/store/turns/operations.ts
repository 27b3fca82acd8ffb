// Records of operations, and the claims by which a client's op_id has one meaning. (decisions.md 5,
// 6)
//
// Invariants:
//   operations/1. The first claim of an op_id decides, for as long as it lives; op_ids that the
//     gateway made are taken too, from the acceptance of their submissions on.
//   operations/2. A fresh claim is durable when it is answered. Waiting claims share one
//     transaction, decided one after the other in the order of asking, so that one fsync serves
//     many.
//   operations/3. A claim and the operation of the same op_id are removed together: a claim made
//     anew after that never meets the record of its predecessor, which the actors would take for a
//     repeat.
//   operations/4. An op_id in the record of a batch stays taken until that record is removed, which
//     is a moment after its own time is over: nothing takes it out of there.

import type { OperationId } from '#domain/identity'
import type { Claim, ClaimOutcome, Operation, OperationStore } from '#domain/operation'
import { Bulk, allIn, inChunks } from '#src/store/statements/bulk'
import type { Database } from '#src/store/jobs/database'
import type { ClaimRow, OperationRow } from '#src/store/entities/operations'
import type { Tables } from '#src/store/entities/tables'
import { operationsInBatches } from './operation-batches.ts'
import { Group } from '#src/store/jobs/group'
import type { Executor } from '#src/store/jobs/executor'
import { Overtaken } from '#src/store/store-error'

interface Claiming {
  readonly claim: Claim
  readonly expiredBefore: number
  readonly isPending: boolean
}

const CLAIM_COLUMNS = `op_id AS opId, channel_id AS channelId, thing_id AS thingId,
  content_hash AS contentHash, message_id AS messageId, claimed_at AS claimedAt`

export class Operations implements OperationStore {
  readonly #claims: Bulk<ClaimRow>
  readonly #asked: Group<OperationId, Operation | undefined>
  readonly #claimed: Group<Claiming, ClaimOutcome>

  constructor(database: Database, tables: Tables) {
    this.#claims = Bulk.of(tables.claims)
    this.#asked = new Group(database, { enter: (job) => database.read(job), answer: operationsOf })
    this.#claimed = new Group(database, {
      // Run again after a commit whose answer was lost, a claim finds itself: then it is a repeat,
      // which acceptance completes just as well.
      enter: (job) => database.durable(job, { isIdempotent: true }),
      answer: (executor, group) => this.#decide(executor, group),
    })
  }

  find(opId: OperationId): Promise<Operation | undefined> {
    return this.#asked.ask(opId)
  }

  claim(claim: Claim, expiredBefore: number, isPending = false): Promise<ClaimOutcome> {
    return this.#claimed.ask({ claim, expiredBefore, isPending })
  }

  /**
   * Reads all known uses of the op_ids, decides one claim after the other, and writes the new ones.
   */
  async #decide(executor: Executor, group: readonly Claiming[]): Promise<readonly ClaimOutcome[]> {
    const opIds = [...new Set(group.map(({ claim }) => claim.opId))].sort()
    const known = await knownOf(executor, opIds)
    const outcomes = group.map((waiting) => decide(known, waiting))
    await forget(executor, [...known.forgotten].sort())
    const fresh = [...known.fresh.values()].sort((one, other) => (one.opId < other.opId ? -1 : 1))
    try {
      await this.#claims.write(executor, fresh)
    } catch (error) {
      // Another node has just claimed one of the op_ids: a repeat sees its claim. (operations/1)
      if (executor.dialect.isOvertaken(error)) throw new Overtaken()
      throw error
    }
    return outcomes
  }
}

/** In the order of the op_ids. */
async function operationsOf(
  executor: Executor,
  opIds: readonly OperationId[],
): Promise<readonly (Operation | undefined)[]> {
  const rows = await allIn<OperationRow>(
    executor,
    [...new Set(opIds)],
    (list) => `SELECT op_id AS opId, channel_id AS channelId, model, entity_id AS entityId, status,
        accepted_at AS acceptedAt, updated_at AS updatedAt, error_code AS errorCode
      FROM operations WHERE op_id IN (${list})`,
  )
  const found = new Map<OperationId, Operation>()
  for (const { errorCode, ...operation } of rows) {
    found.set(operation.opId, { ...operation, ...(errorCode !== null && { errorCode }) })
  }
  // The row of a queued operation goes before the record of its batch. (making/4)
  const others = [...new Set(opIds)].filter((opId) => !found.has(opId))
  for (const operation of await operationsInBatches(executor, others)) {
    found.set(operation.opId, operation)
  }
  return opIds.map((opId) => found.get(opId))
}

/** The state on which a group of claims is decided; it changes with each decision. */
interface Known {
  readonly claims: Map<OperationId, Claim>
  /** The time of acceptance of each operation. */
  readonly operations: Map<OperationId, number>
  readonly fresh: Map<OperationId, ClaimRow>
  readonly forgotten: Set<OperationId>
}

/**
 * Locks the existing claims. (operations/1) Operations are read before them: a claim comes before
 * its operation, so whoever sees the operation that another node has just applied sees its claim,
 * too.
 */
async function knownOf(executor: Executor, opIds: readonly OperationId[]): Promise<Known> {
  const claims = new Map<OperationId, Claim>()
  const operations = new Map<OperationId, number>()
  const { byIndex, forUpdate } = executor.dialect
  await inChunks(opIds, async (list, part) => {
    const applied = await executor.all<Pick<OperationRow, 'opId' | 'acceptedAt'>>(
      `SELECT op_id AS opId, accepted_at AS acceptedAt FROM operations WHERE op_id IN (${list})`,
      part,
    )
    for (const { opId, acceptedAt } of applied) operations.set(opId, acceptedAt)
    const inBatches = await operationsInBatches(executor, part as readonly OperationId[])
    for (const { opId } of inBatches) operations.set(opId, Infinity) // operations/4
    const claimed = await executor.all<ClaimRow>(
      `SELECT ${CLAIM_COLUMNS} FROM claims${byIndex('PRIMARY')}
        WHERE op_id IN (${list})${forUpdate}`,
      part,
    )
    for (const claim of claimed) claims.set(claim.opId, claim)
  })
  return { claims, operations, fresh: new Map(), forgotten: new Set() }
}

function decide(known: Known, { claim, expiredBefore, isPending }: Claiming): ClaimOutcome {
  const { opId } = claim
  const first = known.claims.get(opId)
  const acceptedAt = known.operations.get(opId)
  if (first !== undefined && first.claimedAt >= expiredBefore) {
    return compare(first, claim, acceptedAt !== undefined) // operations/1
  }
  const isTaken = isPending || (acceptedAt !== undefined && acceptedAt >= expiredBefore)
  if (first === undefined && isTaken) {
    return { kind: 'conflict', code: 'op_id_scope_conflict' } // operations/1
  }
  if (first !== undefined || acceptedAt !== undefined) {
    known.forgotten.add(opId)
    known.operations.delete(opId)
  }
  known.claims.set(opId, claim)
  known.fresh.set(opId, claim)
  return { kind: 'fresh' }
}

function compare(first: Claim, claim: Claim, applied: boolean): ClaimOutcome {
  if (first.channelId !== claim.channelId || first.thingId !== claim.thingId) {
    return { kind: 'conflict', code: 'op_id_scope_conflict' }
  }
  if (first.contentHash !== claim.contentHash) {
    return { kind: 'conflict', code: 'op_id_payload_conflict' }
  }
  return { kind: 'repeat', first, applied }
}

/** operations/3 */
async function forget(executor: Executor, opIds: readonly OperationId[]): Promise<void> {
  await inChunks(opIds, async (list, part) => {
    await executor.run(`DELETE FROM operations WHERE op_id IN (${list})`, part)
    await executor.run(`DELETE FROM claims WHERE op_id IN (${list})`, part)
  })
}

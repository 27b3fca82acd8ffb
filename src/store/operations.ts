// Records of operations, and the claims by which a client's op_id has one meaning. (decisions.md 5,
// 6)
//
// Invariants:
//   O1. The first claim of an op_id decides, for as long as it lives; op_ids of submissions that
//       the gateway named itself are taken too.
//   O2. A fresh claim is durable when it is answered. Claims that wait share one transaction, in
//       the order in which they were asked, so that an fsync serves many.
//   O3. A claim and the operation of the same op_id go together: a claim made anew after its time
//       never meets the record of its predecessor, which the actors would take for a repeat.

import type { OperationId } from '#domain/identity'
import type { Claim, ClaimOutcome, Operation } from '#domain/operation'
import type { OperationStore } from '#domain/store-ports'
import { JOBS_WAITING_MAX } from './database.ts'
import type { Database, Session } from './database.ts'
import type { ClaimRow, OperationRow } from './entities/operations.ts'
import { StoreBusy } from './store-error.ts'

interface WaitingClaim {
  readonly claim: Claim
  readonly expiredBefore: number
  readonly answer: (outcome: ClaimOutcome) => void
  readonly fail: (error: unknown) => void
}

const CLAIMS_AT_ONCE = 256
const CLAIM_COLUMNS = `op_id AS opId, channel_id AS channelId, thing_id AS thingId,
  content_hash AS contentHash, message_id AS messageId, claimed_at AS claimedAt`

export class Operations implements OperationStore {
  readonly #database: Database
  readonly #waiting: WaitingClaim[] = []

  constructor(database: Database) {
    this.#database = database
    database.countQueue(() => this.#waiting.length)
  }

  async find(opId: OperationId): Promise<Operation | undefined> {
    const row = await this.#database.read((session) =>
      session.first<OperationRow>(
        `SELECT op_id AS opId, channel_id AS channelId, model, entity_id AS entityId, status,
            accepted_at AS acceptedAt, updated_at AS updatedAt, error_code AS errorCode
          FROM operations WHERE op_id = ?`,
        [opId],
      ),
    )
    if (row === undefined) return undefined
    const { errorCode, ...operation } = row
    return { ...operation, ...(errorCode !== null && { errorCode }) }
  }

  claim(claim: Claim, expiredBefore: number): Promise<ClaimOutcome> {
    if (this.#waiting.length >= JOBS_WAITING_MAX) {
      return Promise.reject(new StoreBusy(this.#waiting.length))
    }
    return new Promise((answer, fail) => {
      this.#waiting.push({ claim, expiredBefore, answer, fail })
      if (this.#waiting.length === 1) void this.#decideWaiting()
    })
  }

  /** O2: one transaction for all that wait by the time the gate opens. */
  async #decideWaiting(): Promise<void> {
    let group: readonly WaitingClaim[] = []
    try {
      const outcomes = await this.#database.durable(async (session) => {
        group = this.#waiting.splice(0, CLAIMS_AT_ONCE)
        if (this.#waiting.length > 0) void this.#decideWaiting()
        const decided: ClaimOutcome[] = []
        for (const { claim, expiredBefore } of group) {
          decided.push(await decide(session, claim, expiredBefore))
        }
        return decided
      })
      for (const [index, outcome] of outcomes.entries()) group[index]?.answer(outcome)
    } catch (error) {
      const failed = group.length > 0 ? group : this.#waiting.splice(0)
      for (const { fail } of failed) fail(error)
    }
  }
}

async function decide(
  session: Session,
  claim: Claim,
  expiredBefore: number,
): Promise<ClaimOutcome> {
  const operation = await session.first<{ acceptedAt: number }>(
    'SELECT accepted_at AS acceptedAt FROM operations WHERE op_id = ?',
    [claim.opId],
  )
  const first = await firstClaim(session, claim.opId)
  if (first !== undefined && first.claimedAt >= expiredBefore) {
    return compare(first, claim, operation !== undefined) // O1
  }
  if (first === undefined && operation !== undefined && operation.acceptedAt >= expiredBefore) {
    return { kind: 'conflict', code: 'op_id_scope_conflict' } // O1
  }
  if (first !== undefined || operation !== undefined) await forget(session, claim.opId) // O3
  const isFirst = await insert(session, claim)
  const winner = isFirst ? undefined : await firstClaim(session, claim.opId)
  return winner === undefined ? { kind: 'fresh' } : compare(winner, claim, false)
}

const firstClaim = (session: Session, opId: OperationId): Promise<Claim | undefined> =>
  session.first<ClaimRow>(
    `SELECT ${CLAIM_COLUMNS} FROM claims WHERE op_id = ?${session.dialect.forUpdate}`,
    [opId],
  )

function compare(first: Claim, claim: Claim, applied: boolean): ClaimOutcome {
  if (first.channelId !== claim.channelId || first.thingId !== claim.thingId) {
    return { kind: 'conflict', code: 'op_id_scope_conflict' }
  }
  if (first.contentHash !== claim.contentHash) {
    return { kind: 'conflict', code: 'op_id_payload_conflict' }
  }
  return { kind: 'repeat', first, applied }
}

async function forget(session: Session, opId: OperationId): Promise<void> {
  await session.run('DELETE FROM operations WHERE op_id = ?', [opId])
  await session.run('DELETE FROM claims WHERE op_id = ?', [opId])
}

/** False when another node was faster. */
async function insert(session: Session, claim: Claim): Promise<boolean> {
  const { opId, channelId, thingId, contentHash, messageId, claimedAt } = claim
  const { affected } = await session.run(
    `INSERT INTO claims (op_id, channel_id, thing_id, content_hash, message_id, claimed_at)
      VALUES (?, ?, ?, ?, ?, ?) ${session.dialect.onDuplicate(['op_id'], [])}`,
    [opId, channelId, thingId, contentHash, messageId, claimedAt],
  )
  return affected === 1
}

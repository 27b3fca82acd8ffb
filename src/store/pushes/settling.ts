// Ends jobs, and the operations whose last job ended.
//
// Invariants:
//   settling/1. A job ends once: its row is locked, and a job whose row is gone or only marks a
//               Thing or a failure has ended.
//   settling/2. An operation ends with its last job, in the same transaction. A transaction that
//               ends jobs of an operation locks its record, so that the later of two sees the
//               effect of the earlier.
//   settling/3. Only a queued operation moves; an ended one stays. (decisions.md 5)

import type { OperationId } from '#domain/identity'
import type { EndedOperations, PushRules, PushTally } from '#domain/push'
import { Bulk, allIn, changeById, changeIn, removeById } from '#src/store/statements/bulk'
import type { Executor } from '#src/store/jobs/executor'
import type { Dialect } from '#src/store/dialect'
import { ENDED_STATES } from '#src/store/entities/pushes'
import type { PushTallyRow } from '#src/store/entities/pushes'
import type { Tables } from '#src/store/entities/tables'

/** An ended job. An expired or superseded one is no failure. */
export interface Ended {
  readonly id: number
  readonly isFailure: boolean
  /** Set when its device does not want it: the operation ends as if there were no such device. */
  readonly isFiltered?: true
  /**
   * The time until which its device gets no update of its Thing: until then the row stays as a
   * mark.
   */
  readonly markUntilMs?: number
}

interface OpenJob {
  readonly id: number
  readonly opId: OperationId
}

type Tallies = Map<OperationId, { served: number; failed: number }>

export class Settling {
  readonly #rules: PushRules
  readonly #tallies: Bulk<PushTallyRow>

  constructor(rules: PushRules, tables: Tables, { onDuplicate }: Dialect) {
    this.#rules = rules
    this.#tallies = Bulk.of(tables.pushTallies, {
      onDuplicate: onDuplicate(['op_id'], ['served', 'failed']),
    })
  }

  /** Ends jobs, in the transaction of the executor; returns the operations that ended with them. */
  async end(executor: Executor, ended: readonly Ended[], nowMs: number): Promise<EndedOperations> {
    const jobs = await lockJobs(executor, ended)
    if (jobs.length === 0) return {}
    const tallies = talliesOf(jobs, ended)
    const opIds = [...tallies.keys()].toSorted()
    await lockOperations(executor, opIds) // settling/2
    await removeOrMark(executor, jobs, ended)
    await addEarlier(executor, opIds, tallies)
    const remaining = await withJobs(executor, opIds)
    const open = opIds.filter((opId) => remaining.has(opId))
    const over = opIds.filter((opId) => !remaining.has(opId))
    await this.#keep(executor, open, tallies)
    return this.#close(executor, { over, tallies, nowMs })
  }

  #keep(executor: Executor, opIds: readonly OperationId[], tallies: Tallies): Promise<void> {
    const rows = opIds.map((opId) => ({ opId, ...tallyOf(tallies, opId) }))
    return this.#tallies.write(executor, rows)
  }

  async #close(
    executor: Executor,
    { over, tallies, nowMs }: { over: readonly OperationId[]; tallies: Tallies; nowMs: number },
  ): Promise<EndedOperations> {
    const { ending, queued } = this.#rules
    const counts: Record<string, number> = {}
    const byEnding = Map.groupBy(over, (opId) => JSON.stringify(ending(tallyOf(tallies, opId))))
    for (const [text, opIds] of byEnding) {
      const { status, errorCode } = JSON.parse(text) as ReturnType<PushRules['ending']>
      const changed = await changeIn(
        executor,
        opIds,
        (list) => `UPDATE operations SET status = ?, updated_at = ?, error_code = ?
          WHERE op_id IN (${list}) AND status = ?`,
        { before: [status, nowMs, errorCode ?? null], behind: [queued] }, // settling/3
      )
      counts[status] = (counts[status] ?? 0) + changed
    }
    await changeIn(executor, over, (list) => `DELETE FROM push_tallies WHERE op_id IN (${list})`)
    return counts
  }
}

const tallyOf = (tallies: Tallies, opId: OperationId): PushTally =>
  tallies.get(opId) ?? { served: 0, failed: 0 }

/** settling/1 */
function lockJobs(executor: Executor, ended: readonly Ended[]): Promise<readonly OpenJob[]> {
  const { byIndex, forUpdate } = executor.dialect
  const ids = ended.map(({ id }) => id).toSorted((one, other) => one - other)
  return allIn<OpenJob>(
    executor,
    ids,
    (list) => `SELECT id, op_id AS opId FROM push_jobs${byIndex('PRIMARY')}
      WHERE id IN (${list}) AND state NOT IN ${ENDED_STATES}${forUpdate}`,
  )
}

function talliesOf(jobs: readonly OpenJob[], ended: readonly Ended[]): Tallies {
  const byId = new Map(ended.map((one) => [one.id, one]))
  const tallies: Tallies = new Map()
  for (const { id, opId } of jobs) {
    const tally = tallies.get(opId) ?? { served: 0, failed: 0 }
    const { isFailure, isFiltered } = byId.get(id) ?? {}
    if (isFailure === true) tally.failed += 1
    else if (isFiltered !== true) tally.served += 1
    tallies.set(opId, tally)
  }
  return tallies
}

async function lockOperations(executor: Executor, opIds: readonly OperationId[]): Promise<void> {
  const { byIndex, forUpdate } = executor.dialect
  if (forUpdate === '') return
  await allIn(
    executor,
    opIds,
    (list) =>
      `SELECT op_id FROM operations${byIndex('PRIMARY')} WHERE op_id IN (${list})${forUpdate}`,
  )
}

async function removeOrMark(
  executor: Executor,
  jobs: readonly OpenJob[],
  ended: readonly Ended[],
): Promise<void> {
  const marks = new Map(
    ended.flatMap(({ id, markUntilMs }) => (markUntilMs === undefined ? [] : [[id, markUntilMs]])),
  )
  const failures = new Set(ended.flatMap(({ id, isFailure }) => (isFailure ? [id] : [])))
  const failed = jobs.filter(({ id }) => failures.has(id))
  const kept = jobs.filter(({ id }) => marks.has(id))
  await removeById(
    executor,
    'push_jobs',
    jobs.filter(({ id }) => !marks.has(id) && !failures.has(id)),
  )
  const fail = `UPDATE push_jobs SET state = 'failed', due_at = expires_at, claim = ''`
  await changeById(executor, failed, fail, [])
  const byTime = Map.groupBy(kept, ({ id }) => marks.get(id) ?? 0)
  const mark = `UPDATE push_jobs SET state = 'pushed', due_at = ?, claim = ''`
  for (const [untilMs, rows] of byTime) await changeById(executor, rows, mark, [untilMs])
}

async function addEarlier(
  executor: Executor,
  opIds: readonly OperationId[],
  tallies: Tallies,
): Promise<void> {
  const rows = await allIn<PushTallyRow>(
    executor,
    opIds,
    (list) => `SELECT op_id AS opId, served, failed FROM push_tallies WHERE op_id IN (${list})`,
  )
  for (const { opId, served, failed } of rows) {
    const tally = tallies.get(opId)
    if (tally === undefined) continue
    tally.served += served
    tally.failed += failed
  }
}

/** Operations with a job that has not ended. */
async function withJobs(
  executor: Executor,
  opIds: readonly OperationId[],
): Promise<ReadonlySet<OperationId>> {
  const rows = await allIn<{ opId: OperationId }>(
    executor,
    opIds,
    (list) => `SELECT DISTINCT op_id AS opId FROM push_jobs
      WHERE op_id IN (${list}) AND state NOT IN ${ENDED_STATES}`,
  )
  return new Set(rows.map(({ opId }) => opId))
}

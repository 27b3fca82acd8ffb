// The jobs of dispatch: claims, settles, renews and gives them back. (claiming.ts, settling.ts)

import type {
  Backlog,
  ClaimedPushes,
  EndedOperations,
  PushClaim,
  PushEnding,
  PushRules,
  PushStore,
  Settler,
} from '#domain/push'
import { PreferenceReader } from '#domain/push/preferences'
import type { ProviderName } from '#domain/push/providers'
import type { Meter } from '#domain/telemetry'
import { changeIn, removeById } from '#src/store/statements/bulk'
import type { Database } from '#src/store/jobs/database'
import { ENDED_STATES } from '#src/store/entities/pushes'
import type { PushState } from '#src/store/entities/pushes'
import type { Tables } from '#src/store/entities/tables'
import type { Executor } from '#src/store/jobs/executor'
import { claimJobs, hasEnded } from './claiming.ts'
import { Settling } from './settling.ts'
import type { Ended } from './settling.ts'

/** Jobs that the metric counts; beyond it the figure stays there. */
const BACKLOG_COUNTED_MAX = 100_000
const TENDED_AT_ONCE = 500
/**
 * Milliseconds after which maintenance ends an expired job: a dispatching process does so earlier.
 */
const TEND_AFTER_MS = 600_000
/** By so much the clocks of two nodes differ. */
const CLOCKS_APART_MS = 60_000
const IDEMPOTENT = { isIdempotent: true }

/** A job, or the mark that it has left. */
interface Tended {
  readonly id: number
  readonly state: PushState
  readonly dueAt: number
  readonly expiresAt: number
}

export class Pushes implements PushStore {
  readonly #database: Database
  readonly #rules: PushRules
  readonly #settling: Settling
  readonly #preferences = new PreferenceReader()

  constructor(database: Database, tables: Tables, rules: PushRules, meter: Meter) {
    this.#database = database
    meter.gauge('known_preferences', {}, () => this.#preferences.size)
    this.#rules = rules
    this.#settling = new Settling(rules, tables, database.dialect)
  }

  /** A power cut may undo a claim: the process that held it is gone then. */
  claim(claim: PushClaim): Promise<ClaimedPushes> {
    const parts = { settling: this.#settling, preferences: this.#preferences }
    return this.#database.repeatable((executor) => claimJobs(executor, claim, parts))
  }

  /** Run again after a commit whose answer was lost, it finds its jobs gone. */
  settle(endings: readonly PushEnding[], by: Settler): Promise<EndedOperations> {
    return this.#database.repeatable(async (executor) => {
      await retireGone(executor, endings)
      await defer(executor, endings, by)
      const ended = endings.flatMap((ending) => this.#endOf(ending, by) ?? [])
      return this.#settling.end(executor, ended, by.nowMs)
    }, IDEMPOTENT)
  }

  async renew(worker: string, ids: readonly number[], untilMs: number): Promise<void> {
    await this.#move(worker, ids, { claim: worker, dueMs: untilMs })
  }

  async release(worker: string, ids: readonly number[], nowMs: number): Promise<void> {
    await this.#move(worker, ids, { claim: '', dueMs: nowMs })
  }

  tend(nowMs: number): Promise<number> {
    return this.#database.repeatable(async (executor) => {
      const rows = await executor.all<Tended>(
        `SELECT id, state, due_at AS dueAt, expires_at AS expiresAt
          FROM push_jobs ORDER BY id LIMIT ?`,
        [TENDED_AT_ONCE],
      )
      const young = rows.findIndex(({ expiresAt }) => expiresAt > nowMs - TEND_AFTER_MS)
      const old = young < 0 ? rows : rows.slice(0, young)
      const ended = old.map(({ id }) => ({ id, isFailure: false }))
      await this.#settling.end(executor, ended, nowMs)
      // A mark whose time is further off is of a clock that was ahead, and would hold the Thing's
      // pushes until then.
      const untilMs = nowMs + this.#rules.thingIntervalMs + CLOCKS_APART_MS
      const ahead = rows
        .slice(old.length)
        .filter(({ state, dueAt }) => hasEnded(state) && dueAt > untilMs)
      // Marks have ended earlier.
      await removeById(executor, 'push_jobs', [...old, ...ahead])
      return old.length
    }, IDEMPOTENT)
  }

  releaseAll(nowMs: number): Promise<void> {
    return this.#database.repeatable(async (executor) => {
      for (const provider of this.#rules.providers) {
        await executor.run(
          `UPDATE push_jobs SET claim = '', due_at = ?
            WHERE provider = ? AND due_at > ? AND claim <> ''`,
          [nowMs, provider, nowMs],
        )
      }
    }, IDEMPOTENT)
  }

  backlog(provider: ProviderName): Promise<Backlog> {
    return this.#database.read(async (executor) => {
      const counted = await executor.first<{ jobs: number }>(
        `SELECT count(*) AS jobs FROM (SELECT state FROM push_jobs
          WHERE provider = ? ORDER BY due_at LIMIT ${BACKLOG_COUNTED_MAX}) counted
          WHERE state NOT IN ${ENDED_STATES}`,
        [provider],
      )
      const oldest = await executor.first<{ dueAt: number }>(
        'SELECT due_at AS dueAt FROM push_jobs WHERE provider = ? ORDER BY due_at LIMIT 1',
        [provider],
      )
      return { jobs: counted?.jobs ?? 0, oldestDueMs: oldest?.dueAt }
    })
  }

  #move(
    worker: string,
    ids: readonly number[],
    { claim, dueMs }: { readonly claim: string; readonly dueMs: number },
  ): Promise<void> {
    return this.#database.repeatable(async (executor) => {
      await changeIn(
        executor,
        ids.toSorted((one, other) => one - other),
        (list) => `UPDATE push_jobs SET claim = ?, due_at = ? WHERE id IN (${list}) AND claim = ?`,
        { before: [claim, dueMs], behind: [worker] },
      )
    }, IDEMPOTENT)
  }

  /** The end of a job; undefined when it has not ended. */
  #endOf(ending: PushEnding, { nowMs }: Settler): Ended | undefined {
    const { kind, push } = ending
    if (kind === 'deferred') return undefined
    const end = { id: push.id, isFailure: kind === 'failed' }
    const { thingIntervalMs } = this.#rules
    if (kind !== 'delivered' || push.model !== 'thing' || thingIntervalMs === 0) return end
    return { ...end, markUntilMs: nowMs + thingIntervalMs }
  }
}

/** Defers jobs, except those that another worker has claimed by now. */
async function defer(
  executor: Executor,
  endings: readonly PushEnding[],
  { worker }: Settler,
): Promise<void> {
  const deferred = endings.filter((ending) => ending.kind === 'deferred')
  if (deferred.length === 0) return
  const rows = deferred
    .toSorted((one, other) => one.push.id - other.push.id)
    .map(({ push, untilMs, isAttempt }) => {
      const tried = isAttempt ? 1 : 0
      return [push.id, untilMs, push.attempts + tried, push.revision, tried]
    })
  const { dialect } = executor
  await executor.run(
    dialect.updateFrom({
      table: 'push_jobs',
      keys: dialect.keys('k', {
        id: 'integer',
        until_ms: 'integer',
        tries: 'integer',
        revision: 'integer',
        tried: 'integer',
      }),
      on: 'push_jobs.id = k.id',
      set: `due_at = k.until_ms, attempts = k.tries, route_revision = k.revision, claim = '',
        state = CASE WHEN k.tried = 1 THEN 'deferred' ELSE push_jobs.state END`,
      where: `push_jobs.claim = ? AND push_jobs.state NOT IN ${ENDED_STATES}`,
    }),
    [JSON.stringify(rows), worker],
  )
}

/** Makes devices private whose token is gone, unless their route has changed meanwhile. */
async function retireGone(executor: Executor, endings: readonly PushEnding[]): Promise<void> {
  const gone = new Map(
    endings.flatMap((ending) =>
      ending.kind === 'failed' && ending.isGone ? [[ending.push.device, ending.push] as const] : [],
    ),
  )
  for (const { device, revision, token } of gone.values()) {
    await executor.run(
      `UPDATE devices SET channel_type = 'private', provider_token = NULL,
          route_revision = route_revision + 1
        WHERE id = ? AND route_revision = ? AND provider_token = ?`,
      [device, revision, token],
    )
  }
}

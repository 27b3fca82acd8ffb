// The records of the authorization server.
//
// Invariants:
//   authorization/1. One use is one statement: when two nodes use a record at once, one of them
//     learns that it came second.
//   authorization/2. A secret of a period is made once: whoever comes second gets the first one's.
//   authorization/3. Records of a kind that is bounded are removed beyond the bound, those that end
//     first before others, in the transaction that writes one more.

import type {
  AuthorizationRecord,
  AuthorizationRecordStore,
  FoundRecord,
  PeriodSecret,
} from '#domain/authorization-store'
import { Bulk } from '#src/store/statements/bulk'
import type { Database } from '#src/store/jobs/database'
import type { AuthorizationSecretRow } from '#src/store/entities/authorization'
import type { Tables } from '#src/store/entities/tables'
import { removeGrant } from './ended-grants.ts'
import type { Executor } from '#src/store/jobs/executor'

const KEY = ['model', 'id_hash'] as const
const VALUES = ['grant_id', 'uid', 'payload', 'consumed_at', 'expires_at'] as const
const REMOVE = 'DELETE FROM authorization_records WHERE model = ? AND id_hash = ?'
const FOUND = 'SELECT payload, consumed_at AS consumedAt FROM authorization_records'

export class AuthorizationRecords implements AuthorizationRecordStore {
  readonly #database: Database
  readonly #records: Bulk<AuthorizationRecord>
  readonly #secrets: Bulk<AuthorizationSecretRow>

  constructor(database: Database, tables: Tables) {
    const { onDuplicate } = database.dialect
    this.#database = database
    this.#records = Bulk.of(tables.authorizationRecords, { onDuplicate: onDuplicate(KEY, VALUES) })
    this.#secrets = Bulk.of(tables.authorizationSecrets, {
      onDuplicate: onDuplicate(['purpose', 'period'], []), // authorization/2
    })
  }

  async put(record: AuthorizationRecord, atMost?: number): Promise<void> {
    const write = async (executor: Executor): Promise<void> => {
      await this.#records.write(executor, [record])
      if (atMost !== undefined) await removeBeyond(executor, record, atMost) // authorization/3
    }
    await this.#database.durable(write, { isIdempotent: true })
  }

  find(model: string, idHash: string, nowMs: number): Promise<FoundRecord | undefined> {
    return this.#database.first<FoundRecord>(
      `${FOUND} WHERE model = ? AND id_hash = ? AND expires_at > ?`,
      [model, idHash, nowMs],
    )
  }

  findByUid(model: string, uid: string, nowMs: number): Promise<FoundRecord | undefined> {
    return this.#database.first<FoundRecord>(
      `${FOUND} WHERE uid = ? AND model = ? AND expires_at > ?`,
      [uid, model, nowMs],
    )
  }

  async consume(model: string, idHash: string, nowMs: number): Promise<boolean> {
    const consumed = await this.#database.change(
      `UPDATE authorization_records SET consumed_at = ?
        WHERE model = ? AND id_hash = ? AND consumed_at = 0`, // authorization/1
      [nowMs, model, idHash],
    )
    return consumed > 0
  }

  async remove(model: string, idHash: string): Promise<void> {
    await this.#database.change(REMOVE, [model, idHash])
  }

  async prolong(model: string, idHash: string, expiresAt: number): Promise<void> {
    await this.#database.change(
      `UPDATE authorization_records SET expires_at = ?
        WHERE model = ? AND id_hash = ? AND expires_at < ?`,
      [expiresAt, model, idHash, expiresAt],
    )
  }

  async revokeGrant(grantId: string): Promise<void> {
    await this.#database.durable((executor) => removeGrant(executor, grantId))
  }

  secrets(purpose: string, fresh: readonly PeriodSecret[]): Promise<readonly PeriodSecret[]> {
    const periods = fresh.map(({ period }) => period)
    return this.#database.durable(
      async (executor) => {
        const rows = fresh.map((secret) => ({ purpose, ...secret }))
        const eldest = Math.min(...periods) - 1
        await this.#secrets.write(executor, rows)
        await executor.run('DELETE FROM authorization_secrets WHERE purpose = ? AND period < ?', [
          purpose,
          eldest,
        ])
        return executor.all<PeriodSecret>(
          `SELECT period, secret FROM authorization_secrets
            WHERE purpose = ? AND period BETWEEN ? AND ? ORDER BY period`,
          [purpose, eldest, Math.max(...periods)],
        )
      },
      { isIdempotent: true },
    )
  }
}

/** Rows that one transaction removes beyond a bound; other nodes may have written at once. */
const BEYOND_MAX = 100

/** Reads an index alone, in its order. */
async function removeBeyond(
  executor: Executor,
  { model, idHash: written, expiresAt }: AuthorizationRecord,
  atMost: number,
): Promise<void> {
  const beyond = await executor.all<{ readonly idHash: string }>(
    `SELECT id_hash AS idHash FROM authorization_records
      WHERE model = ? AND expires_at <= ? AND id_hash <> ?
      ORDER BY expires_at DESC, id_hash DESC LIMIT ? OFFSET ?`,
    [model, expiresAt, written, BEYOND_MAX, atMost - 1],
  )
  for (const { idHash } of beyond) await executor.run(REMOVE, [model, idHash])
}

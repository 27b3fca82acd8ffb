// Reads and removes dead letters for their operator. Turns write them. (W6)

import type { DeadLetterStore, KeptDeadLetter } from '#domain/operator/dead-letters'
import { PAGE_BYTES_MAX } from '#domain/store-ports'
import type { Page } from '#domain/store-ports'
import type { Database } from '#src/store/jobs/database'

const SELECT = 'SELECT id, lane, payload, error, at FROM dead_letters'

export class DeadLetters implements DeadLetterStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  list({
    after,
    limit,
  }: {
    readonly after: number
    readonly limit: number
  }): Promise<Page<KeptDeadLetter>> {
    return this.#database.read(async (executor) => {
      const sql = `${SELECT} WHERE id > ? ORDER BY id LIMIT ?`
      const rows = await executor.all<KeptDeadLetter>(sql, [after, limit + 1])
      const items: KeptDeadLetter[] = []
      let size = 0
      for (const row of rows.slice(0, limit)) {
        size += row.payload.length + row.error.length
        if (items.length > 0 && size > PAGE_BYTES_MAX) break
        items.push(row)
      }
      const last = items.at(-1)
      return last === undefined || items.length === rows.length
        ? { items }
        : { items, next: last.id }
    })
  }

  find(id: number): Promise<KeptDeadLetter | undefined> {
    return this.#database.first<KeptDeadLetter>(`${SELECT} WHERE id = ?`, [id])
  }

  async remove(id: number): Promise<void> {
    await this.#database.durable(
      (executor) => executor.run('DELETE FROM dead_letters WHERE id = ?', [id]),
      { isIdempotent: true },
    )
  }
}

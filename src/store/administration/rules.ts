// Reads the rules of channels for their callers.

import type { ChannelId, RuleId } from '#domain/identity'
import type { ListedRule, RuleStore } from '#domain/rules/stored'
import { PAGE_BYTES_MAX } from '#domain/store-ports'
import type { Page } from '#domain/store-ports'
import type { Database } from '#src/store/jobs/database'
import { RULE_COLUMNS } from '#src/store/turns/rules'

type Row = Omit<ListedRule, 'failures'> & { readonly failures: number; readonly last: string }

const SELECT = `SELECT ${RULE_COLUMNS}, r.failures, r.last_failure AS last
  FROM rules r JOIN channels c ON c.id = r.channel AND c.is_deleted = 0
  WHERE c.channel_id = ?`

export class Rules implements RuleStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  rule(channelId: ChannelId, ruleId: RuleId): Promise<ListedRule | undefined> {
    return this.#database.read(async (executor) => {
      const row = await executor.first<Row>(`${SELECT} AND r.id = ?`, [channelId, ruleId])
      return row && listed(row)
    })
  }

  list(
    channelId: ChannelId,
    { after, limit }: { readonly after: number; readonly limit: number },
  ): Promise<Page<ListedRule>> {
    return this.#database.read(async (executor) => {
      const rows = await executor.all<Row>(`${SELECT} ORDER BY r.id LIMIT ? OFFSET ?`, [
        channelId,
        limit + 1,
        after,
      ])
      const items: ListedRule[] = []
      let size = 0
      for (const row of rows.slice(0, limit)) {
        size += row.text.length
        if (items.length > 0 && size > PAGE_BYTES_MAX) break
        items.push(listed(row))
      }
      return items.length < rows.length ? { items, next: after + items.length } : { items }
    })
  }
}

const listed = ({ failures, last, ...rule }: Row): ListedRule => ({
  ...rule,
  failures: { count: failures, ...(last !== '' && { last }) },
})

// Rows of which a channel has one: what its owner sets, as JSON, and what the gateway notes beside.
//
// Invariants:
//   channel-documents/1. What two nodes note at once is kept of both: the row is read under the
//     lock under which it is written, and rows are locked in one order.

import type { ChannelId } from '#domain/identity'
import type { Table } from '#src/store/entities/table'
import type { Database } from '#src/store/jobs/database'
import type { Executor } from '#src/store/jobs/executor'
import { Group } from '#src/store/jobs/group'
import { Bulk, allIn } from '#src/store/statements/bulk'
import { lockedChannel } from './locked.ts'

/** The texts of a row, by column. */
type Documents<Column extends string> = Readonly<Record<Column, string>>

type Row<Column extends string> = Documents<Column> & { readonly channel: number }

interface Noted {
  readonly channelId: ChannelId
  /** Returns the text for the one that is there. */
  readonly noted: (before: string) => string
}

const IDEMPOTENT = { isIdempotent: true }

/** The columns of a table have the names of the documents. */
export class ChannelDocuments<Column extends string> {
  readonly #database: Database
  readonly #table: Table<Row<Column>>
  readonly #empty: Documents<Column>
  readonly #found: Group<ChannelId, Documents<Column> | undefined>

  /** `empty`: the documents of a channel before they are set. */
  constructor(database: Database, table: Table<Row<NoInfer<Column>>>, empty: Documents<Column>) {
    this.#database = database
    this.#table = table
    this.#empty = empty
    this.#found = new Group(database, {
      enter: (job) => database.read(job),
      answer: (executor, channelIds) => this.#documentsOf(executor, channelIds),
    })
  }

  find(channelId: ChannelId): Promise<Documents<Column> | undefined> {
    return this.#found.ask(channelId)
  }

  /** Replaces some of the documents; false when there is no such channel. */
  put(channelId: ChannelId, documents: Partial<Documents<Column>>): Promise<boolean> {
    return this.#database.durable(async (executor) => {
      const found = await lockedChannel(executor, channelId)
      if (found === undefined) return false
      await this.#write(executor, found.id, documents)
      return true
    }, IDEMPOTENT)
  }

  /** Changes a document of some channels; leaves out those that are no more. */
  note(column: Column, notes: readonly Noted[]): Promise<void> {
    const inOrder = notes.toSorted((a, b) => (a.channelId < b.channelId ? -1 : 1))
    return this.#database.repeatable(async (executor) => {
      // channel-documents/1
      for (const { channelId, noted } of inOrder) {
        const found = await lockedChannel(executor, channelId)
        if (found === undefined) continue
        const before = await executor.first<{ readonly document: string }>(
          `SELECT ${column} AS document FROM ${this.#table.options.name}
            WHERE channel = ?${executor.dialect.forUpdate}`,
          [found.id],
        )
        const document = noted(before?.document ?? this.#empty[column])
        await this.#write(executor, found.id, { [column]: document } as Partial<Documents<Column>>)
      }
    }, IDEMPOTENT)
  }

  #write(
    executor: Executor,
    channel: number,
    documents: Partial<Documents<Column>>,
  ): Promise<void> {
    const onDuplicate = executor.dialect.onDuplicate(['channel'], Object.keys(documents))
    const rows = Bulk.of<Row<Column>>(this.#table, {
      onDuplicate,
    })
    return rows.write(executor, [{ ...this.#empty, ...documents, channel }])
  }

  async #documentsOf(
    executor: Executor,
    channelIds: readonly ChannelId[],
  ): Promise<readonly (Documents<Column> | undefined)[]> {
    const columns = Object.keys(this.#empty).map((column) => `d.${column}`)
    const rows = await allIn<Documents<Column> & { readonly channelId: ChannelId }>(
      executor,
      [...new Set(channelIds)],
      (list) => `SELECT c.channel_id AS channelId, ${columns.join(', ')}
        FROM channels c JOIN ${this.#table.options.name} d ON d.channel = c.id
        WHERE c.channel_id IN (${list}) AND c.is_deleted = 0`,
    )
    const byChannel = new Map(rows.map(({ channelId, ...documents }) => [channelId, documents]))
    return channelIds.map((channelId) => byChannel.get(channelId) as Documents<Column> | undefined)
  }
}

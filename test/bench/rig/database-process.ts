// `count <path> <query> …` prints one number per query. The others change what the product made:
// `keys <path> <count>` adds channels with a key each, `devices <path> <JSON>` devices that have
// seen everything until now, `things <path> <count>` things of the workload, `messages` and
// `updates` `<path> <count>` so many entries to every channel, `history` to the first one,
// `rules <path> <JSON>` rules to every channel; `deadlines <path> <at once> <milliseconds>` makes
// one for each thing.

import { DatabaseSync } from 'node:sqlite'
import type { StatementSync } from 'node:sqlite'

import { operationIdFrom } from '#domain/identity'
import type { OperationId, ThingId } from '#domain/identity'
import { addBlock, blocksOf } from '#src/store/feed/update-blocks'
import type { BlockRows } from '#src/store/feed/update-blocks'
import { sqlite } from '#src/store/sqlite/dialect'
import { attrsOf, thingIdOf } from '#test/bench/load/payload'
import type { NewDevices } from './device-keys.ts'
import { writeChannels, writeDevices, writeThings } from './keyed-rows.ts'
import type { RowWriter } from './keyed-rows.ts'

const [verb = '', path = '', ...words] = process.argv.slice(2)
const database = new DatabaseSync(path, { readOnly: verb === 'count' })

const statements = new Map<string, StatementSync>()
const writer: RowWriter = {
  run(sql, parameters) {
    const statement = statements.get(sql) ?? database.prepare(sql)
    statements.set(sql, statement)
    return Promise.resolve(Number(statement.run(...parameters).lastInsertRowid))
  },
}

function numberOf(query: string): number {
  return Number(Object.values(database.prepare(query).get() ?? {})[0] ?? 0)
}

function countAll(queries: readonly string[]): number[] {
  database.exec('BEGIN')
  return queries.map(numberOf)
}

/** Adds the things of the workload to channels that have none. */
async function addThings(count: number): Promise<void> {
  const channels = database.prepare('SELECT id FROM channels ORDER BY id').all()
  await writeThings(writer, { count, channels: channels.map(({ id }) => Number(id)) })
}

/** Updates of one statement of the process. */
const HISTORY_AT_ONCE = 12_800

/** Behind the head of each channel. */
const ADDED = 'FROM channel_heads h CROSS JOIN numbers'
const IN_ORDER = 'WHERE numbers.n <= ? ORDER BY numbers.n, h.channel'
const NUMBERS = `WITH RECURSIVE numbers (n) AS
  (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)`
const PAYLOAD = JSON.stringify({ title: 'Sensor', body: 'x'.repeat(200) })

function addMessages(each: number): void {
  database
    .prepare(
      `INSERT INTO feed_entries (channel, seq, model, action, entity_id, op_id, accepted_at, payload)
        ${NUMBERS} SELECT channel, head_seq + n, 'message', 'send', printf('%032x', head_seq + n),
          printf('made-%d-%d', channel, head_seq + n), 1, ? ${ADDED} ${IN_ORDER}`,
    )
    .run(each, PAYLOAD, each)
  database.prepare('UPDATE channel_heads SET head_seq = head_seq + ?').run(each)
}

/** Adds updates of the one Thing of each channel, in blocks as turns write them. */
function addUpdates(each: number): void {
  const things = database
    .prepare(
      `SELECT h.channel, h.head_seq AS headSeq, t.id FROM channel_heads h
        JOIN things t ON t.channel = h.channel ORDER BY h.channel`,
    )
    .all() as { channel: number; headSeq: number; id: ThingId }[]
  const rows: BlockRows = { blocks: [], places: [] }
  let id = 1
  for (let n = 1; n <= each; n += 1) {
    const updates = things.map(({ channel, headSeq, id: entityId }) => {
      const opId = `made-${channel}-${headSeq + n}` as OperationId
      const item = {
        seq: headSeq + n,
        opId,
        entityId,
        state: 'active',
        rev: n + 1,
        payload: PAYLOAD,
      }
      const named = { model: 'thing', action: 'update', acceptedAt: 1 } as const
      return { ref: channel, item: { ...item, ...named } }
    })
    for (const block of blocksOf(updates)) {
      addBlock(rows, block, { id, isJoined: 1, dialect: sqlite })
      id += block.entries
    }
  }
  insertBlocks(rows)
  setUpdateNumber(id)
  database.prepare('UPDATE channel_heads SET head_seq = head_seq + ?').run(each)
  database.exec(
    `UPDATE things SET seq =
      (SELECT head_seq FROM channel_heads h WHERE h.channel = things.channel)`,
  )
}

function insertBlocks(rows: BlockRows): void {
  const addRow = database.prepare(
    `INSERT INTO update_blocks (id, last_at, entries, places, is_joined, content)
      VALUES (?, ?, ?, ?, ?, ?)`,
  )
  for (const row of rows.blocks)
    addRow.run(row.id, row.lastAt, row.entries, row.places, row.isJoined, row.content)
  const addPlace = database.prepare(
    'INSERT INTO update_places (span, channel, last_seq, last_at, block) VALUES (?, ?, ?, ?, ?)',
  )
  for (const { span, channel, lastSeq, lastAt, block } of rows.places)
    addPlace.run(span, channel, lastSeq, lastAt, block)
}

/** The number that the next update gets. */
function setUpdateNumber(next: number): void {
  database
    .prepare(
      `INSERT INTO gateway_meta (name, value) VALUES ('update_number', ?)
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    )
    .run(String(next))
}

/** Adds updates of now of the Things of the first channel, in blocks as joining leaves them. */
function addHistory(count: number): void {
  const { channel, headSeq } = database
    .prepare('SELECT channel, head_seq AS headSeq FROM channel_heads ORDER BY channel LIMIT 1')
    .get() as { channel: number; headSeq: number }
  const nowMs = Date.now()
  for (let done = 0; done < count; done += HISTORY_AT_ONCE) {
    const updates = Array.from({ length: Math.min(HISTORY_AT_ONCE, count - done) }, (_, at) => {
      const n = done + at + 1
      const acceptedAt = nowMs + Math.floor(n / 1_000)
      const payload = JSON.stringify({ observed_at: acceptedAt, attrs: attrsOf(n) })
      const entityId = thingIdOf(n % headSeq) as ThingId
      const opId = operationIdFrom(acceptedAt, n.toString(16).padStart(32, '0'))
      const entry = {
        opId,
        entityId,
        acceptedAt,
        payload,
        seq: headSeq + n,
        state: 'active',
        rev: n,
      }
      return { ref: channel, item: { ...entry, model: 'thing', action: 'update' } as const }
    })
    const rows: BlockRows = { blocks: [], places: [] }
    let id = done + 1
    for (const block of blocksOf(updates)) {
      addBlock(rows, block, { id, isJoined: 1, dialect: sqlite })
      id += block.entries
    }
    insertBlocks(rows)
  }
  setUpdateNumber(count + 1)
  database
    .prepare('UPDATE channel_heads SET head_seq = head_seq + ? WHERE channel = ?')
    .run(count, channel)
}

function addRules(rules: readonly object[]): void {
  const put = database.prepare(
    `INSERT INTO rules (channel, id, version, since, created_at, updated_at, document)
      SELECT id, ?, 'made', 1, 1, 1, ? FROM channels`,
  )
  for (const [index, rule] of rules.entries()) put.run(`r${index}`, JSON.stringify(rule))
}

/** In place of those that are there. */
function addDeadlines(atOnce: number, spreadMs: number): void {
  const nowMs = Date.now()
  database.exec(
    `DELETE FROM watches;
     WITH made AS MATERIALIZED
       (SELECT t.channel, r.id AS rule, t.id AS thing, r.version,
           CASE WHEN row_number() OVER () > ${atOnce}
             THEN ${nowMs} + abs(random()) % ${spreadMs} ELSE ${nowMs} END AS due
         FROM things t JOIN rules r ON r.channel = t.channel)
     INSERT INTO watches (channel, rule_id, thing_id, lane, due, document)
       SELECT channel, rule, thing, 0, due,
         json_object('version', version, 'phase', 'quiet', 'since', 0, 'due', due) FROM made`,
  )
}

async function changed(work: () => void | Promise<void>): Promise<void> {
  // Without a journal each page is written once.
  database.exec('PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-200000; BEGIN')
  await work()
  database.exec('COMMIT; PRAGMA journal_mode=WAL')
}

const CHANGES: Readonly<Record<string, () => void | Promise<void>>> = {
  keys: () => writeChannels(writer, Number(words[0])),
  devices: () => writeDevices(writer, JSON.parse(words[0] ?? '{}') as NewDevices),
  things: () => addThings(Number(words[0])),
  messages: () => addMessages(Number(words[0])),
  updates: () => addUpdates(Number(words[0])),
  history: () => addHistory(Number(words[0])),
  rules: () => addRules(JSON.parse(words[0] ?? '[]') as readonly object[]),
  deadlines: () => addDeadlines(Number(words[0]), Number(words[1])),
}

const change = CHANGES[verb]
if (change !== undefined) await changed(change)
else if (verb === 'count') console.log(countAll(words).join(' '))
else throw new Error(`there is no ${verb}`)
database.close()

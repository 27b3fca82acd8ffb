// `count <path> <query> …` prints one number per query. The others change what the product made,
// and print one number: `multiply <path> <total>` copies things, `things <path> <count>` adds those
// of the workload, `messages` and `updates` `<path> <count>` add so many entries to every channel,
// `keys <path> <count>` adds channels with a key and a password each, `devices <path> <name> <count> <channels>
// <channel>` makes devices with so many channels each, or with that one, that have seen everything
// until now; `rules <path> <list as JSON>` puts rules into every channel; `deadlines <path> <milliseconds>` makes one for each thing, spread over such a time.

import { DatabaseSync } from 'node:sqlite'

import { NO_FIELDS } from '#domain/patch'
import { keyHashOf } from '#src/acceptance/known-keys'
import { passwordHashOf } from '#src/acceptance/password-hash'
import { PASSWORD_PARAMETERS } from '#src/acceptance/password-work'
import { documentOf } from '#src/store/turns/document'
import { attrsOf, thingIdOf, titleOf } from '#test/bench/load/payload'
import { keyedChannels } from './channel-keys.ts'
import { deviceIdOf, deviceKeysOf } from './device-keys.ts'

const [verb = '', path = '', ...words] = process.argv.slice(2)
const database = new DatabaseSync(path, { readOnly: verb === 'count' })

/** The hash of a password that nobody knows: a guess costs what it costs for any. */
const UNPROVED = passwordHashOf(
  { parameters: PASSWORD_PARAMETERS, salt: Buffer.alloc(16) },
  Buffer.alloc(16),
  Buffer.alloc(32),
)

function numberOf(query: string): number {
  return Number(Object.values(database.prepare(query).get() ?? {})[0] ?? 0)
}

function countAll(queries: readonly string[]): number[] {
  database.exec('BEGIN')
  return queries.map(numberOf)
}

function multiply(wanted: number): number[] {
  const copies = Math.ceil(wanted / numberOf('SELECT count(*) FROM things')) - 1
  database.exec(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${copies})
     INSERT INTO things (channel, id, state, seq, op_id, document)
     SELECT channel, id || '-' || n, state, seq, op_id, document FROM things CROSS JOIN numbers`,
  )
  database.exec(`UPDATE channel_heads SET things = things * ${copies + 1}`)
  return [numberOf('SELECT count(*) FROM things')]
}

const THING_NOTE = 'x'.repeat(90)

/** Adds the things of the workload to channels that have none, as first updates of now leave them. */
function addThings(count: number): number[] {
  const channels = database.prepare('SELECT id FROM channels ORDER BY id').all()
  const added = database.prepare(
    'INSERT INTO things (channel, id, state, seq, op_id, document) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const nowMs = Date.now()
  for (let thing = 0; thing < count; thing += 1) {
    const channel = channels[thing % channels.length]?.['id'] ?? 0
    const seq = Math.floor(thing / channels.length) + 1
    const [id, state] = [thingIdOf(thing), 'active' as const]
    const fields = { values: { title: titleOf(thing) }, times: undefined }
    const attrs = { values: { ...attrsOf(thing), note: THING_NOTE }, times: undefined }
    const at = { stateAt: 1, at: 1, changedAt: nowMs }
    const body = { fields, attrs, externalIds: NO_FIELDS }
    const document = documentOf({ id, state, rev: 1, seq, ...at, ...body })
    added.run(channel, id, state, seq, `made-${thing}`, document)
  }
  database.exec(
    `UPDATE channel_heads SET (head_seq, things) =
      (SELECT coalesce(max(seq), 0), count(*) FROM things t WHERE t.channel = channel_heads.channel)`,
  )
  return [numberOf('SELECT count(*) FROM things')]
}

/** Behind the head of each channel. */
const ADDED = `FROM channel_heads h CROSS JOIN numbers
  WHERE numbers.n <= ? ORDER BY numbers.n, h.channel`
const NUMBERS = `WITH RECURSIVE numbers (n) AS
  (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)`
const PAYLOAD = JSON.stringify({ title: 'Sensor', body: 'x'.repeat(200) })

function addMessages(each: number): number[] {
  database
    .prepare(
      `INSERT INTO feed_entries (channel, seq, model, action, entity_id, op_id, accepted_at, payload)
        ${NUMBERS} SELECT channel, head_seq + n, 'message', 'send', printf('%032x', head_seq + n),
          printf('made-%d-%d', channel, head_seq + n), 1, ? ${ADDED}`,
    )
    .run(each, PAYLOAD, each)
  database.prepare('UPDATE channel_heads SET head_seq = head_seq + ?').run(each)
  return [numberOf('SELECT count(*) FROM feed_entries')]
}

/** Adds updates of the Thing with which each channel was warmed. */
function addUpdates(each: number): number[] {
  database
    .prepare(
      `INSERT INTO thing_updates (channel, seq, model, action, entity_id, op_id, state, rev,
          accepted_at, payload)
        ${NUMBERS} SELECT channel, head_seq + n, 'thing', 'update', 'warm',
          printf('made-%d-%d', channel, head_seq + n), 'active', n, 1, ? ${ADDED}`,
    )
    .run(each, PAYLOAD, each)
  database.prepare('UPDATE channel_heads SET head_seq = head_seq + ?').run(each)
  database.exec(
    `UPDATE things SET seq = (SELECT head_seq FROM channel_heads h WHERE h.channel = things.channel)
      WHERE id = 'warm'`,
  )
  return [numberOf('SELECT count(*) FROM thing_updates')]
}

function addRules(rules: readonly object[]): number[] {
  const put = database.prepare(
    `INSERT INTO rules (channel, id, version, since, created_at, updated_at, document)
      SELECT id, ?, 'made', 1, 1, 1, ? FROM channels`,
  )
  for (const [index, rule] of rules.entries()) put.run(`r${index}`, JSON.stringify(rule))
  return [numberOf('SELECT count(*) FROM rules')]
}

/** In place of those that are there. */
function addDeadlines(atOnce: number, spreadMs: number): number[] {
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
  return [numberOf('SELECT count(*) FROM watches')]
}

function addDevices([name = '', count, channels, only = '']: readonly string[]): number[] {
  const device = database.prepare(
    `INSERT INTO devices (device_id, platform, channel_type, created_at, seen_at)
      VALUES (?, 'linux', 'private', 1, 1)`,
  )
  const subscription = database.prepare(
    `INSERT INTO subscriptions (channel, device, since_seq, acked_seq, acked_ahead, created_at)
      SELECT channel, ?, head_seq, head_seq, '[]', 1 FROM channel_heads WHERE channel = ?`,
  )
  const known = database
    .prepare("SELECT id AS channel FROM channels WHERE ? IN ('', channel_id) ORDER BY id")
    .all(only)
  const each = Number(channels)
  for (const [index, key] of deviceKeysOf(name, Number(count)).entries()) {
    const { lastInsertRowid } = device.run(deviceIdOf(key))
    for (let nth = 0; nth < each; nth += 1) {
      const channel = known[(index * each + nth) % known.length]?.['channel'] ?? 0
      subscription.run(lastInsertRowid, channel)
    }
  }
  return [numberOf('SELECT count(*) FROM devices')]
}

function addKeys(count: number): number[] {
  const channel = database.prepare(
    `INSERT INTO channels (channel_id, name, password_hash, created_at, keys_hash, keys_epoch)
      VALUES (?, 'a fleet', ?, 1, ?, 1)`,
  )
  const head = database.prepare(
    'INSERT INTO channel_heads (channel, head_seq, things, open_events) VALUES (?, 0, 0, 0)',
  )
  const stored = database.prepare(
    `INSERT INTO channel_keys (key_hash, channel, key_id, label, created_at, epoch)
      VALUES (?, ?, ?, '', 1, 1)`,
  )
  for (const { channelId, key } of keyedChannels(count)) {
    const { lastInsertRowid } = channel.run(channelId, UNPROVED, UNPROVED)
    head.run(lastInsertRowid)
    stored.run(keyHashOf(key), lastInsertRowid, channelId)
  }
  return [numberOf('SELECT count(*) FROM channels')]
}

function changed(work: () => number[]): number[] {
  // Without a journal each page is written once.
  database.exec('PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-200000; BEGIN')
  const numbers = work()
  database.exec('COMMIT; PRAGMA journal_mode=WAL')
  return numbers
}

const VERBS: Readonly<Record<string, () => number[]>> = {
  count: () => countAll(words),
  multiply: () => changed(() => multiply(Number(words[0]))),
  things: () => changed(() => addThings(Number(words[0]))),
  messages: () => changed(() => addMessages(Number(words[0]))),
  updates: () => changed(() => addUpdates(Number(words[0]))),
  rules: () => changed(() => addRules(JSON.parse(words[0] ?? '[]') as readonly object[])),
  deadlines: () => changed(() => addDeadlines(Number(words[0]), Number(words[1]))),
  keys: () => changed(() => addKeys(Number(words[0]))),
  devices: () => changed(() => addDevices(words)),
}

console.log((VERBS[verb]?.() ?? []).join(' '))
database.close()

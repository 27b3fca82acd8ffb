// D4's store thread: state, feed, operations and the lane's position in one SQLite transaction a
// turn.
//
// What profiling found: four fifths of the thread's time is spent inside SQLite, most of it per
// commit and per touched page, not per row. Hence multi-row statements of 25 rows (the driver pays per
// crossing; larger ones gain nothing), state held in memory and written through once per turn, a
// wide distance between checkpoints, and turns that wait a few milliseconds for 1,000 submissions.
// The log stands in a file and a thread of its own, so that its fsync waits for no turn; and as
// position and effects commit together and the log is durable, this database needs no fsync per
// commit. The two changes were tried together: about a quarter more than one file and one thread,
// on a noisy machine.

import { parentPort, workerData } from 'node:worker_threads'
import { SqliteConnection as Database } from '#src/store/sqlite-connection'

export type Submission = readonly [
  op: string,
  channel: string,
  thing: string,
  observedAt: number,
  acceptedAt: number,
  title: string,
  attrs: Readonly<Record<string, unknown>>,
]

export interface LoggedBatch {
  /** JSON of Submission[]: what the log keeps. */
  readonly payload: string
  readonly count: number
}

/** Frames of one turn, one behind the other; `ends` are their ends. */
export interface Applied {
  readonly frames: Uint8Array
  readonly ends: Uint32Array
}

interface Channel {
  readonly ref: number
  seq: number
}

interface Thing {
  readonly id: string
  readonly channel: Channel
  rev: number
  seq: number
  title: string
  attrs: Record<string, unknown>
}

const ROWS_PER_STATEMENT = 25
/** A turn starts with so many submissions, or this long after the first of them was appended. */
const TURN_MIN = 1_000
const TURN_MAX = 4_000
const TURN_WAIT_MS = 20
const FRAME_BYTES_MAX = 1_024

const db = new Database(String(workerData))
db.exec(`
  PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-65536; PRAGMA wal_autocheckpoint=16000;
  CREATE TABLE lanes (lane INTEGER PRIMARY KEY, position INT);
  CREATE TABLE channels (ref INTEGER PRIMARY KEY, id TEXT);
  CREATE TABLE operations (op TEXT PRIMARY KEY, ref INT, entity TEXT, status INT, at INT) WITHOUT ROWID;
  CREATE TABLE feed (id INTEGER PRIMARY KEY, ref INT, seq INT, op TEXT, entity TEXT, rev INT, at INT, payload TEXT);
  CREATE UNIQUE INDEX feed_seq ON feed (ref, seq);
  CREATE TABLE things (ref INT, id TEXT, rev INT, seq INT, at INT, state TEXT, PRIMARY KEY (ref, id)) WITHOUT ROWID;
  INSERT INTO lanes VALUES (0, 0);
`)

/** Writes rows with as few statements as there are whole groups, then the rest one by one. */
function writer(
  head: string,
  columns: number,
  tail = '',
): (values: readonly (string | number)[]) => void {
  const row = `(${Array.from({ length: columns }, () => '?').join(',')})`
  const rows = Array.from({ length: ROWS_PER_STATEMENT }, () => row).join(',')
  const many = db.prepare(`${head} VALUES ${rows} ${tail}`)
  const one = db.prepare(`${head} VALUES ${row} ${tail}`)
  const group = columns * ROWS_PER_STATEMENT
  return (values) => {
    let start = 0
    for (; start + group <= values.length; start += group)
      many.run(values.slice(start, start + group))
    for (; start < values.length; start += columns) one.run(values.slice(start, start + columns))
  }
}

const moveLane = db.prepare('UPDATE lanes SET position = ? WHERE lane = 0 AND position = ?')
const insertChannel = db.prepare('INSERT INTO channels (ref, id) VALUES (?, ?)')
const insertOperations = writer('INSERT INTO operations (op, ref, entity, status, at)', 5)
const insertFeed = writer('INSERT INTO feed (ref, seq, op, entity, rev, at, payload)', 7)
const upsertThings = writer(
  'INSERT INTO things (ref, id, rev, seq, at, state)',
  6,
  'ON CONFLICT DO UPDATE SET rev = excluded.rev, seq = excluded.seq, at = excluded.at, state = excluded.state',
)

const channels = new Map<string, Channel>()
const things = new Map<string, Thing>()
const begin = db.prepare('BEGIN')
const commit = db.prepare('COMMIT')
let position = 0
let unapplied: LoggedBatch[] = []
let turnTimer: NodeJS.Timeout | undefined

function channelOf(id: string): Channel {
  const known = channels.get(id)
  if (known !== undefined) return known
  const made = { ref: channels.size + 1, seq: 0 }
  insertChannel.run(made.ref, id)
  channels.set(id, made)
  return made
}

function thingOf(channelId: string, id: string): Thing {
  const key = channelId + id
  const known = things.get(key)
  if (known !== undefined) return known
  const made = { id, channel: channelOf(channelId), rev: 0, seq: 0, title: '', attrs: {} }
  things.set(key, made)
  return made
}

function apply(batches: readonly LoggedBatch[]): void {
  // Read back unchecked: the straight line trusts its own log.
  const turn = batches.flatMap(({ payload }) => JSON.parse(payload) as Submission[])
  const frames = Buffer.allocUnsafeSlow(turn.length * FRAME_BYTES_MAX)
  const ends = new Uint32Array(turn.length)
  const operations: (string | number)[] = []
  const feed: (string | number)[] = []
  const changed = new Set<Thing>()
  let end = 0
  begin.run()
  turn.forEach(([op, channelId, thingId, , at, title, attrs], index) => {
    const thing = thingOf(channelId, thingId)
    const { channel } = thing
    channel.seq += 1
    thing.rev += 1
    thing.seq = channel.seq
    thing.title = title
    Object.assign(thing.attrs, attrs)
    changed.add(thing)
    const payload = `{"title":${JSON.stringify(title)},"attrs":${JSON.stringify(attrs)}}`
    operations.push(op, channel.ref, thingId, 3, at)
    feed.push(channel.ref, channel.seq, op, thingId, thing.rev, at, payload)
    end += frames.write(
      `{"type":"deliver","channel_id":"${channelId}","seq":${channel.seq},"delivery_id":"${channelId}-${channel.seq}","op_id":"${op}","model":"thing","action":"update","entity_id":"${thingId}","state":"active","rev":${thing.rev},"accepted_at":${at},"payload":${payload}}`,
      end,
      'latin1',
    )
    ends[index] = end
  })
  insertOperations(operations)
  insertFeed(feed)
  upsertThings(
    [...changed].flatMap(({ channel, id, rev, seq, title, attrs }) => [
      channel.ref,
      id,
      rev,
      seq,
      0,
      JSON.stringify({ title, attrs }),
    ]),
  )
  moveLane.run(position + batches.length, position)
  commit.run()
  position += batches.length
  const message: Applied = { frames: frames.subarray(0, end), ends }
  parentPort?.postMessage(message, [frames.buffer])
}

/** Batches of at most TURN_MAX submissions together, at least one. */
function takeTurn(): LoggedBatch[] {
  let count = 0
  const cut = unapplied.findIndex((batch, index) => {
    count += batch.count
    return index > 0 && count > TURN_MAX
  })
  const turn = cut < 0 ? unapplied : unapplied.slice(0, cut)
  unapplied = cut < 0 ? [] : unapplied.slice(cut)
  return turn
}

function work(): void {
  const count = unapplied.reduce((sum, batch) => sum + batch.count, 0)
  if (count >= TURN_MIN) apply(takeTurn())
  if (unapplied.length > 0) turnTimer ??= setTimeout(applyRest, TURN_WAIT_MS)
}

function applyRest(): void {
  turnTimer = undefined
  if (unapplied.length > 0) apply(takeTurn())
  work()
}

parentPort?.on('message', (batch: LoggedBatch) => {
  unapplied.push(batch)
  work()
})

// The store thread of the embedded D4: state, feed, operations and the lane's position in one
// SQLite transaction a turn.
//
// By a profile, the thread spends four fifths of its time inside SQLite, most of it per
// commit and per touched page, not per row. Hence multi-row statements of 25 rows (the driver pays
// per crossing; larger ones gain nothing), state held in memory and written through once per turn, a
// wide distance between checkpoints, and turns that wait a few milliseconds for 1,000 submissions.
// The log stands in a file and a thread of its own, so that its fsync waits for no turn; and as
// position and effects commit together and the log is durable, this database needs no fsync per
// commit. The two changes were tried together: about a quarter more than one file and one thread,
// on a noisy machine.

import { parentPort, workerData } from 'node:worker_threads'
import { SqliteConnection as Database } from '#src/store/sqlite/connection'
import { fold, stateOf } from './straight-line-fold.ts'
import type { LoggedBatch, Submission } from './straight-line-fold.ts'
import { Turns } from './straight-line-turns.ts'

const ROWS_PER_STATEMENT = 25

const db = new Database(String(workerData))
db.exec(`
  PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-65536;
  PRAGMA wal_autocheckpoint=16000;
  CREATE TABLE lanes (lane INTEGER PRIMARY KEY, position INT);
  CREATE TABLE channels (ref INTEGER PRIMARY KEY, id TEXT);
  CREATE TABLE operations (op TEXT PRIMARY KEY, ref INT, entity TEXT, status INT, at INT)
    WITHOUT ROWID;
  CREATE TABLE feed (id INTEGER PRIMARY KEY, ref INT, seq INT, op TEXT, entity TEXT, rev INT, at INT,
    payload TEXT);
  CREATE UNIQUE INDEX feed_seq ON feed (ref, seq);
  CREATE TABLE things (ref INT, id TEXT, rev INT, seq INT, at INT, state TEXT,
    PRIMARY KEY (ref, id)) WITHOUT ROWID;
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
  `ON CONFLICT DO UPDATE SET rev = excluded.rev, seq = excluded.seq, at = excluded.at,
    state = excluded.state`,
)
const begin = db.prepare('BEGIN')
const commit = db.prepare('COMMIT')
let position = 0

function apply(turn: readonly Submission[], batches: number): void {
  const operations: (string | number)[] = []
  const feed: (string | number)[] = []
  begin.run()
  const { applied, changed } = fold(turn, {
    made: ({ ref }, id) => insertChannel.run(ref, id),
    effect: ({ op, at, thing: { id, channel, rev }, payload }) => {
      operations.push(op, channel.ref, id, 3, at)
      feed.push(channel.ref, channel.seq, op, id, rev, at, payload)
    },
  })
  insertOperations(operations)
  insertFeed(feed)
  upsertThings(
    [...changed].flatMap((thing) => {
      const { channel, id, rev, seq } = thing
      return [channel.ref, id, rev, seq, 0, stateOf(thing)]
    }),
  )
  moveLane.run(position + batches, position)
  commit.run()
  position += batches
  parentPort?.postMessage(applied, [applied.frames.buffer])
}

const turns = new Turns(apply)
parentPort?.on('message', (batch: LoggedBatch) => turns.add(batch))

// The store thread of the cluster's D4: consumes the stream and writes state, feed, operations and
// the lane's position in one MariaDB transaction a turn.

import { Readable } from 'node:stream'
import { parentPort, workerData } from 'node:worker_threads'

import { AckPolicy, DeliverPolicy, jetstreamManager } from '@nats-io/jetstream'
import { connect, createInbox } from '@nats-io/transport-node'
import { createConnection } from 'mysql2'
import type { Connection } from 'mysql2'
import { fold, stateOf } from './straight-line-fold.ts'
import type { Submission } from './straight-line-fold.ts'
import { Turns } from './straight-line-turns.ts'

interface Settings {
  readonly natsUrl: string
  readonly databaseUrl: string
  readonly stream: string
}

const { natsUrl, databaseUrl, stream } = workerData as Settings

// Rows go in as LOAD DATA LOCAL, which costs the server 18 µs a submission where multi-row
// statements cost 26, and the client no more. JSON holds no raw tab or line feed, so nothing needs
// escaping. Raw bytes need no conversion of characters.
const TABLES = `
  SET SESSION unique_checks = 0, foreign_key_checks = 0;
  CREATE TABLE lanes (lane INT PRIMARY KEY, position BIGINT) ENGINE=InnoDB;
  CREATE TABLE channels (ref INT PRIMARY KEY, id BINARY(26)) ENGINE=InnoDB;
  CREATE TABLE operations (op BINARY(46) PRIMARY KEY, ref INT, entity VARBINARY(64),
    status TINYINT, at BIGINT) ENGINE=InnoDB;
  CREATE TABLE feed (id BIGINT AUTO_INCREMENT PRIMARY KEY, ref INT, seq BIGINT, op BINARY(46),
    entity VARBINARY(64), rev INT, at BIGINT, payload MEDIUMBLOB, UNIQUE KEY feed_seq (ref, seq)
    ) ENGINE=InnoDB;
  CREATE TABLE things (ref INT, id VARBINARY(64), rev INT, seq BIGINT, at BIGINT, state MEDIUMBLOB,
    PRIMARY KEY (ref, id)) ENGINE=InnoDB;
  INSERT INTO lanes VALUES (0, 0)`

const FORMAT = `CHARACTER SET binary FIELDS TERMINATED BY '\\t' ESCAPED BY ''`
const load = (into: string, columns: string): string =>
  `LOAD DATA LOCAL INFILE 'rows' ${into} ${FORMAT} (${columns})`
const CHANNELS = load('INTO TABLE channels', 'ref, id')
const OPERATIONS = load('INTO TABLE operations', 'op, ref, entity, status, at')
const FEED = load('INTO TABLE feed', 'ref, seq, op, entity, rev, at, payload')
const THINGS = load('REPLACE INTO TABLE things', 'ref, id, rev, seq, at, state')

const database: Connection = createConnection({ uri: databaseUrl, multipleStatements: true })

/** Statements given together stand in line: none waits for this thread. */
function run(sql: string, rows?: readonly string[]): Promise<void> {
  const infileStreamFactory = (): Readable => Readable.from([Buffer.from(rows?.join('') ?? '')])
  return new Promise((resolve, reject) => {
    database.query({ sql, infileStreamFactory }, (error) =>
      error === null ? resolve() : reject(error),
    )
  })
}

let position = 0

async function apply(turn: readonly Submission[], batches: number): Promise<void> {
  const channels: string[] = []
  const operations: string[] = []
  const feed: string[] = []
  const { applied, changed } = fold(turn, {
    made: ({ ref }, id) => channels.push(`${ref}\t${id}\n`),
    effect: ({ op, at, thing: { id, channel, rev }, payload }) => {
      const { ref, seq } = channel
      operations.push(`${op}\t${ref}\t${id}\t3\t${at}\n`)
      feed.push(`${ref}\t${seq}\t${op}\t${id}\t${rev}\t${at}\t${payload}\n`)
    },
  })
  const things = Array.from(changed, (thing) => {
    const { channel, id, rev, seq } = thing
    return `${channel.ref}\t${id}\t${rev}\t${seq}\t0\t${stateOf(thing)}\n`
  })
  await Promise.all([
    run(
      `BEGIN; UPDATE lanes SET position = ${position + batches}
        WHERE lane = 0 AND position = ${position}`,
    ),
    ...(channels.length === 0 ? [] : [run(CHANNELS, channels)]),
    run(OPERATIONS, operations),
    run(FEED, feed),
    run(THINGS, things),
    run('COMMIT'),
  ])
  position += batches
  parentPort?.postMessage(applied, [applied.frames.buffer])
}

const turns = new Turns(apply)
await run(TABLES)
const nats = await connect({ servers: natsUrl, noAsyncTraces: true })
const inbox = createInbox()
nats.subscribe(inbox, {
  callback: (error, message) => {
    if (error !== null) throw error
    const text = message.string()
    const gap = text.indexOf(' ')
    turns.add({ payload: text.slice(gap + 1), count: Number(text.slice(0, gap)) })
  },
})
const manager = await jetstreamManager(nats, { checkAPI: false })
await manager.consumers.add(stream, {
  deliver_subject: inbox,
  deliver_policy: DeliverPolicy.All,
  ack_policy: AckPolicy.None,
  mem_storage: true,
})
parentPort?.postMessage('consuming')

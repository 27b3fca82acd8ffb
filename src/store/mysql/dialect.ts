// MySQL 8.4 and MariaDB 10.11 over a pool of connections.
//
// Invariants:
//   mysql/1. Text is utf8mb4_bin: it compares byte for byte, and JSON documents stay as they were
//     written, which MySQL's own JSON type would not do.
//   mysql/2. Writing transactions run at READ COMMITTED: they lock the rows that they find and no
//     gaps between them, and each statement sees earlier commits. They read rows on which they
//     decide with FOR UPDATE. Transactions that only read and need one state take a snapshot.
//   mysql/3. Only the server's messages about connecting leave this file: its other messages quote
//     values.
//   mysql/4. Each connection makes the settings on which the escaping of parameters and the
//     strictness of types rest, whatever the server's defaults are.
//   mysql/5. A process that hangs or dies in the middle of a transaction keeps its rows locked for
//     a moment only: the next owner of its lanes waits that long. Within a transaction the server
//     closes a connection that says nothing for so long; outside one it waits as it is set.
//   mysql/6. When the server rolls a transaction back, later statements may be on their way
//     already. They must not take effect by themselves: so COMMIT is sent once all are answered.

import { memberOf } from '#domain/record'
import { tlsRefusal } from '#domain/tls-refusal'
import type { Description, Dialect, Failure } from '#src/store/dialect'

const TEXT = 'CHARACTER SET utf8mb4 COLLATE utf8mb4_bin' // mysql/1
const BINARY = { charset: 'utf8mb4', collation: 'utf8mb4_bin' } as const
const LOCK_WAIT_S_MAX = 5
/** Less than the wait for a lock, so that the waiting transaction gets it. (mysql/5) */
const IDLE_TRANSACTION_S_MAX = 3

/** Refusals of a connection: their messages hold only the operator's own names. */
const CONNECTING = new Set([1040, 1044, 1045, 1049, 1129, 1130, 1203, 1226, 1251, 1524])
const DUPLICATE = 1062
/** Lock wait timeout, deadlock, a row that changed since the snapshot. */
const TAKEN_BACK = new Set([1020, 1205, 1213])
/** Too many connections, shutdown, query interrupted, connection killed or silent for too long. */
const LOST = new Set([1040, 1053, 1203, 1317, 1927, 3169, 4031])
/** SQL's classes for faults of values: data exceptions, violated constraints. */
const UNFIT_STATE = /^2[23]/
/** Values that do not fit their column, for which MySQL uses other classes. */
const UNFIT = new Set([1265, 1366])

/** mysql/5, mysql/6 */
const BEGIN = [`SET autocommit = 0, wait_timeout = ${IDLE_TRANSACTION_S_MAX}`]
const AFTERWARDS = ['SET autocommit = 1, wait_timeout = DEFAULT']

export const mysql: Dialect = {
  engine: 'mysql',
  durability: 'mysql, as durable as innodb_flush_log_at_trx_commit and its replication make it',
  connections: 10,
  types: {
    serial: { type: 'bigint', primary: true, generated: 'increment' },
    integer: { type: 'bigint' },
    text: (length) => ({ type: 'varchar', length, ...BINARY }),
    document: { type: 'mediumtext', ...BINARY },
    bytes: { type: 'mediumblob' },
    indexedCharacters: 191, // InnoDB allows 3,072 bytes.
    seqsShared: 128,
  },
  // mysql/4
  setup: [
    `SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', autocommit = 1,
      innodb_lock_wait_timeout = ${LOCK_WAIT_S_MAX}`,
    'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED', // mysql/2
  ],
  // mysql/2
  begin: {
    read: [],
    snapshot: [
      'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ',
      'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY',
    ],
    repeatable: BEGIN,
    durable: BEGIN,
  },
  single: 'read', // mysql/5: it commits by itself and locks nothing between two messages
  afterwards: { read: [], snapshot: [], repeatable: AFTERWARDS, durable: AFTERWARDS },
  // Of the time zones of server and session, UTC alone never repeats an hour.
  nowMs: "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)",
  forUpdate: ' FOR UPDATE',
  forUpdateOfFree: ' FOR UPDATE SKIP LOCKED',
  byIndex: (name) => ` FORCE INDEX (${name})`,
  inOrder: ' STRAIGHT_JOIN',
  insertInto: 'INSERT INTO',
  rowsMax: 512,
  bind: (parameters) => [...parameters],
  onDuplicate: (key, replaced, unlessNull = []) => {
    const setters = [
      ...replaced.map((name) => `${name} = VALUES(${name})`),
      ...unlessNull.map((name) => `${name} = coalesce(VALUES(${name}), ${name})`),
    ]
    const nothing = `${key[0] ?? 'id'} = ${key[0] ?? 'id'}`
    return `ON DUPLICATE KEY UPDATE ${setters.length === 0 ? nothing : setters.join(', ')}`
  },
  keys: (alias, columns) => {
    const items = Object.entries(columns).map(
      ([name, type], index) =>
        `${name} ${type === 'text' ? `varchar(128) ${TEXT}` : 'bigint'} PATH '$[${index}]'`,
    )
    return `JSON_TABLE(?, '$[*]' COLUMNS (${items.join(', ')})) ${alias}`
  },
  listOf: (column) => `CAST(JSON_ARRAYAGG(${column}) AS CHAR)`,
  updateFrom: ({ table, keys, on, set, where }) =>
    `UPDATE (SELECT * FROM ${keys}) k STRAIGHT_JOIN ${table} ON ${on} SET ${set} WHERE ${where}`,
  // Asked for one row: others may put theirs between those of a longer INSERT.
  firstId: (raw) => Number(memberOf(raw, 'insertId')),
  describe,
  failureOf,
  isOvertaken: (error) => numberOf(error) === DUPLICATE,
}

/** mysql/3 */
function describe(error: unknown): Description | undefined {
  if (!(error instanceof Error)) return undefined
  const number = numberOf(error)
  const refusal = number === undefined ? tlsRefusal(error) : undefined
  if (refusal !== undefined) {
    const sentence = `there is no TLS with the server: ${refusal}`
    return { code: 'TLS_REFUSED', sentence }
  }
  const code = memberOf(error, 'code') ?? codeWithout(error, number)
  if (typeof code !== 'string' || !/^[A-Z0-9_]{1,64}$/.test(code)) return undefined
  if (number !== undefined && CONNECTING.has(number)) return { code, sentence: error.message }
  if (number === DUPLICATE) {
    const [, key] = /for key '([\w.]{1,64})'$/.exec(error.message) ?? []
    return { code, sentence: `a row with this key exists${key === undefined ? '' : ` (${key})`}` }
  }
  const address = memberOf(error, 'address')
  const port = memberOf(error, 'port')
  if (typeof address === 'string' && typeof port === 'number') {
    return { code, sentence: `${code} at ${address}:${port}` }
  }
  return { code, sentence: number === undefined ? code : `${code} (${number})` }
}

/**
 * The code of an error without one: the driver has no names for MariaDB's own numbers, and refuses
 * statements on a broken connection without any.
 */
function codeWithout(error: unknown, number: number | undefined): string | undefined {
  if (number !== undefined) return `ERROR_${number}`
  return isFatal(error) ? 'PROTOCOL_CONNECTION_LOST' : undefined
}

function failureOf(error: unknown): Failure {
  const number = numberOf(error)
  if (number !== undefined && TAKEN_BACK.has(number)) return 'taken-back'
  if (number !== undefined && LOST.has(number)) return 'lost'
  if (number !== undefined) return isUnfit(error, number) ? 'unfit' : 'refused'
  if (tlsRefusal(error) !== undefined) return 'refused'
  const code = memberOf(error, 'code')
  // A server that hangs leaves each attempt to connect without an answer. (connections/2)
  if (code === 'ETIMEDOUT') return 'silent'
  const isSystem = typeof code === 'string' && /^(E[A-Z]+|PROTOCOL_CONNECTION_LOST)$/.test(code)
  return isSystem || isFatal(error) ? 'lost' : 'refused'
}

function isUnfit(error: unknown, number: number): boolean {
  const state = memberOf(error, 'sqlState')
  return UNFIT.has(number) || (typeof state === 'string' && UNFIT_STATE.test(state))
}

const isFatal = (error: unknown): boolean => memberOf(error, 'fatal') === true

/** The server's error number; the system's numbers are negative. */
function numberOf(error: unknown): number | undefined {
  const number = memberOf(error, 'errno')
  return typeof number === 'number' && number > 0 ? number : undefined
}

// SQLite in WAL mode over one connection.
//
// Invariants:
//   sqlite/1. `synchronous` is FULL for durable transactions and NORMAL for repeatable ones: those
//     reach the WAL file without an fsync. SQLite reads a WAL back in order up to the first damaged
//     frame. So a durable transaction makes everything before it durable, and a power cut takes
//     only the newest turns, whose batches still stand in the log behind the lane's place.
//   sqlite/2. The gate (gate.ts) gives the one connection to one job at a time, so a job that only
//     reads sees one snapshot without a transaction.

import { SqliteError } from './connection.ts'
import type { Dialect } from '#src/store/dialect'

/** Errors about values; all others concern SQLite itself, the disk or the statement. */
const UNFIT = /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG)/

export const sqlite: Dialect = {
  engine: 'sqlite',
  durability: 'sqlite, fsync before each acceptance',
  connections: 1, // sqlite/2
  types: {
    serial: { type: 'integer', primary: true, generated: 'increment' },
    integer: { type: 'integer' },
    text: (length) => ({ type: 'varchar', length }),
    document: { type: 'text' },
    bytes: { type: 'blob' },
  },
  // 32,768 updates: their places take a hundred pages.
  spanBits: 15,
  setup: [],
  begin: {
    read: [],
    snapshot: [], // sqlite/2
    repeatable: ['PRAGMA synchronous = NORMAL', 'BEGIN IMMEDIATE'],
    durable: ['PRAGMA synchronous = FULL', 'BEGIN IMMEDIATE'], // sqlite/1
  },
  single: 'repeatable',
  afterwards: { read: [], snapshot: [], repeatable: [], durable: [] },
  nowMs: "CAST(unixepoch('subsec') * 1000 AS integer)",
  forUpdate: '',
  forUpdateOfFree: '',
  byIndex: () => '',
  inOrder: '',
  // OR FAIL: to be able to roll a single statement back, SQLite would copy each page before
  // changing it, which costs 15 % of a turn's statements.
  insertInto: 'INSERT OR FAIL INTO',
  // Four times as many had no measurable gain.
  rowsMax: 128,
  // One list: TypeORM would spread a turn's thousands of values, which copies them once more.
  bind: (parameters) => [parameters],
  onDuplicate: (key, replaced, unlessNull = []) => {
    const setters = [
      ...replaced.map((name) => `${name} = excluded.${name}`),
      ...unlessNull.map((name) => `${name} = coalesce(excluded.${name}, ${name})`),
    ]
    const action = setters.length === 0 ? 'NOTHING' : `UPDATE SET ${setters.join(', ')}`
    return `ON CONFLICT (${key.join(', ')}) DO ${action}`
  },
  keys: (alias, columns) => {
    const items = Object.keys(columns).map((name, index) => `value ->> ${index} AS ${name}`)
    return `(SELECT ${items.join(', ')} FROM json_each(?)) ${alias}`
  },
  listOf: (column) => `json_group_array(${column})`,
  updateFrom: ({ table, keys, on, set, where }) =>
    `UPDATE ${table} SET ${set} FROM ${keys} WHERE ${on} AND ${where}`,
  firstId: (raw, rows) => Number(raw) - rows + 1,
  // SQLite's messages name tables, columns and constraints, the system's messages name files;
  // neither name values.
  describe: (error) => {
    if (error instanceof SqliteError) return { code: error.code, sentence: error.message }
    if (!(error instanceof Error) || !('code' in error)) return undefined
    const { code, message } = error
    return typeof code === 'string' && /^E[A-Z]+$/.test(code)
      ? { code, sentence: message }
      : undefined
  },
  failureOf: (error) =>
    error instanceof SqliteError && UNFIT.test(error.code) ? 'unfit' : 'refused',
  isOvertaken: () => false, // sqlite/2
}

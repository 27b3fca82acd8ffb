// `count <path> <query> …` prints one number per query; `multiply <path> <total>` copies things.

import { DatabaseSync } from 'node:sqlite'

const [verb, path = '', ...words] = process.argv.slice(2)
const database = new DatabaseSync(path, { readOnly: verb === 'count' })

function numberOf(query: string): number {
  return Number(Object.values(database.prepare(query).get() ?? {})[0] ?? 0)
}

function count(queries: readonly string[]): number[] {
  database.exec('BEGIN')
  return queries.map(numberOf)
}

function multiply(wanted: number): number[] {
  const copies = Math.ceil(wanted / numberOf('SELECT count(*) FROM things')) - 1
  database.exec('PRAGMA synchronous=OFF; PRAGMA cache_size=-200000; BEGIN')
  database.exec(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${copies})
     INSERT INTO things (channel, id, state, seq, op_id, document)
     SELECT channel, id || '-' || n, state, seq, op_id, document FROM things CROSS JOIN numbers`,
  )
  database.exec(`UPDATE channel_heads SET things = things * ${copies + 1}`)
  database.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
  return [numberOf('SELECT count(*) FROM things')]
}

console.log((verb === 'count' ? count(words) : multiply(Number(words[0]))).join(' '))
database.close()

// Tries executions against the server before anything depends on them: written rows, which are
// rolled back, must read as they were sent, and the answers must report them.

import { causeOf } from '#src/store/store-error'
import type { Executor } from '#src/store/jobs/executor'

/** Rows of a table that every database of the gateway has. */
const INSERT = `INSERT INTO dead_letters (lane, position, item, payload, error, at)
  VALUES (?, ?, ?, ?, ?, ?)`
const [LANE, LARGE, NEGATIVE] = [-1, Number.MAX_SAFE_INTEGER, -(2 ** 40)]
const TEXT = "it's \\ \u{1f525}"
const LONG = 'x'.repeat(1_000)

/**
 * Returns the fault of the executions of an executor; undefined when there is none. Rejects with
 * the driver's error when a statement fails; then the caller must end the connection, whose
 * transaction is open.
 */
export async function tryExecutions(executor: Executor): Promise<string | undefined> {
  await executor.run('SET autocommit = 0')
  const wrong = await compare(executor)
  await executor.run('ROLLBACK')
  await executor.run('SET autocommit = 1')
  return wrong
}

async function compare(executor: Executor): Promise<string | undefined> {
  // Several are under way: the second is sent before the first is answered.
  const rows = [TEXT, LONG, ''].map((text, item) => [LANE, LARGE, item, text, TEXT, NEGATIVE])
  const sends = rows.map((values) => executor.make({ sql: INSERT, rows: 1, values }))
  const answers = await Promise.all(sends.map((send) => send()))
  if (answers.some(({ affected }) => affected !== 1)) return 'an INSERT did not report its row'
  const last = await executor.first<{ id: number }>('SELECT LAST_INSERT_ID() AS id')
  if (executor.dialect.firstId(answers.at(-1)?.raw, 1) !== Number(last?.id)) {
    return 'an INSERT did not report the id of its row'
  }
  const found = await executor.all<Record<string, unknown>>(
    `SELECT lane, position, item, payload, error, at FROM dead_letters
      WHERE lane = ? AND id <= ? ORDER BY id DESC LIMIT 3`,
    [LANE, Number(last?.id)],
  )
  if (!(await refuses(executor))) return 'an INSERT was not refused as the server refuses it'
  const read = found.toReversed().map((row) => Object.values(row))
  return JSON.stringify(read) === JSON.stringify(rows)
    ? undefined
    : 'a stored value differs from the sent one'
}

/** True when the server's refusal of a row is reported: none of its columns may be null. */
async function refuses(executor: Executor): Promise<boolean> {
  const values = [null, LARGE, 0, TEXT, TEXT, NEGATIVE]
  const send = executor.make({ sql: INSERT, rows: 1, values })
  return send().then(
    () => false,
    (error: unknown) => executor.dialect.failureOf(causeOf(error)) === 'unfit',
  )
}

// A database of the version before 1.0, commit ebf5d974: its own tables, and rows that its gateway
// wrote (test/store/former). Rows of forms that it read and wrote no more are among them.

import { readFileSync } from 'node:fs'

import { DataSource } from 'typeorm'

import { dataSourceOptionsFor } from '#ormconfig'

/** What the gateway of that version answered on the same database and log, and a key to it. */
export interface FormerAnswers {
  /** A key of the first channel, with the scope `send` and the prefix `la`. */
  readonly key: string
  readonly answers: readonly {
    readonly path: string
    /** Null for a GET. */
    readonly body: unknown
    readonly answer: unknown
  }[]
}

const textOf = (name: string): string =>
  readFileSync(new URL(`../store/former/${name}`, import.meta.url), 'utf8')

export const formerAnswers = (): FormerAnswers =>
  JSON.parse(textOf('answers.json')) as FormerAnswers

/** Runs a job on a connection of an empty or any other database. */
export async function onDatabase<Result>(
  url: string,
  job: (source: DataSource) => Promise<Result>,
): Promise<Result> {
  const source = await new DataSource(dataSourceOptionsFor(url)).initialize()
  try {
    return await job(source)
  } finally {
    await source.destroy()
  }
}

/** Makes the database in an empty one; `log` for that of its log, which a sole process has. */
export function makeFormer(url: string, part: 'database' | 'log' = 'database'): Promise<void> {
  return onDatabase(url, async (source) => {
    const isMySql = source.options.type === 'mysql'
    const rows = textOf(part === 'log' ? 'log-rows.sql' : 'rows.sql')
    const runner = source.createQueryRunner()
    // The texts are those of SQLite, in which a backslash stands for itself.
    if (isMySql) await runner.query("SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'")
    for (const text of [textOf(isMySql ? 'mysql.sql' : 'sqlite.sql'), rows]) {
      for (const statement of text.split(/;\n/)) {
        if (statement.trim() !== '') await runner.query(statement)
      }
    }
    await runner.release()
  })
}

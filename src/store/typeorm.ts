// Opens databases with TypeORM. Loaded only where one is: a thread keeps its 9 MB for good.

import { DataSource } from 'typeorm'

import { dataSourceOptionsFor } from '#ormconfig'
import { withoutParameters } from './jobs/database.ts'
import { dialectOf } from './dialects.ts'
import { migrate } from './migrate.ts'
import type { Opened, Opener } from './jobs/executor.ts'

/** Opens any database. Throws a sentence for the operator when the address is wrong. */
export function openingWithTypeOrm(url: string, caFile?: string): Opener {
  const options = dataSourceOptionsFor(url, caFile)
  const dialect = dialectOf(options.type)
  const open = async (): Promise<Opened> => {
    const source = new DataSource(options)
    try {
      await source.initialize()
      return { source, migrations: await migrate(source, dialect) }
    } catch (error) {
      if (source.isInitialized) await source.destroy()
      throw error
    }
  }
  return { dialect, open }
}

/**
 * Brings the tables of a SQLite file up to date; gives the number of migrations that ran. Rejects
 * with a sentence for the operator.
 */
export async function migrateFile(url: string): Promise<number> {
  const { dialect, open } = openingWithTypeOrm(url)
  try {
    const { source, migrations } = await open()
    await source.destroy()
    return migrations
  } catch (error) {
    throw withoutParameters(error, dialect)
  }
}

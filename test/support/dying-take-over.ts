// A process that migrates a database and kills itself (SIGKILL) before a certain statement:
// `node dying-take-over.ts <url> <regular expression for its beginning>`.

import { DataSource } from 'typeorm'
import type { Logger } from 'typeorm'

import { dataSourceOptionsFor } from '#ormconfig'
import { dialectOf } from '#src/store/dialects'
import { migrate } from '#src/store/migrate'

const [url = '', statement = ''] = process.argv.slice(2)
const fatal = new RegExp(`^${statement}`)

const nothing = (): void => {}
const deadly: Logger = {
  logQuery: (query) => {
    if (fatal.test(query)) process.kill(process.pid, 'SIGKILL')
  },
  logQueryError: nothing,
  logQuerySlow: nothing,
  logSchemaBuild: nothing,
  logMigration: nothing,
  log: nothing,
}

const options = dataSourceOptionsFor(url)
const source = await new DataSource({ ...options, logging: true, logger: deadly }).initialize()
await migrate(source, dialectOf(options.type))
await source.destroy()

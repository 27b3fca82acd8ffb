// A process that kills itself (SIGKILL) when its store sends a certain statement:
// `node dying-writer.ts <url> <statement> turn|join`.

import { DataSource } from 'typeorm'
import type { Logger } from 'typeorm'

import { dataSourceOptionsFor } from '#ormconfig'
import { dialectOf } from '#src/store/dialects'
import { tablesFor } from '#src/store/entities/tables'
import { Database } from '#src/store/jobs/database'
import { Joining } from '#src/store/retention/joining'
import { Channels } from '#src/store/administration/channels'
import { NO_PUSHES } from '#src/store/store'
import { turnsOn } from '#src/store/turns/turns'
import { FakeMeter } from '#test/support/fake-telemetry'
import { realRuntime } from '#test/support/real-runtime'
import { ChannelWriter } from '#test/support/store-writer'
import { message, thing } from '#test/support/submissions'

const [url = '', statement = '', verb = ''] = process.argv.slice(2)

/** Its op_ids are others than those of the process that started this one. */
const LATER = { acceptedAt: 77_000 }

const nothing = (): void => {}
const deadly: Logger = {
  logQuery: (query) => {
    if (query.startsWith(statement)) process.kill(process.pid, 'SIGKILL')
  },
  logQueryError: nothing,
  logQuerySlow: nothing,
  logSchemaBuild: nothing,
  logMigration: nothing,
  log: nothing,
}

const options = dataSourceOptionsFor(url)
const plain = await new DataSource(options).initialize()
const dialect = dialectOf(options.type)
const tables = tablesFor(dialect.types)
const opened = (source: DataSource): Database =>
  new Database(source, dialect, new FakeMeter(), realRuntime)
const before = opened(plain)
const stores = {
  turns: turnsOn(before, tables, NO_PUSHES),
  channels: new Channels(before, tables),
}
const writer = await ChannelWriter.resume(stores, 1)
const from = Number(await stores.turns.takeLane({ lane: 1, epoch: 1 }))
await before.close()

const database = opened(
  await new DataSource({ ...options, logging: true, logger: deadly }).initialize(),
)
if (verb === 'join') await new Joining(database, tables).join(Number.MAX_SAFE_INTEGER)
else {
  const turns = turnsOn(database, tables, NO_PUSHES)
  const writes = writer.take(message(LATER), thing('update', 'lamp', { ...LATER, at: 9 })).writes()
  await turns.commit({ ...writes, lanes: [{ lane: 1, epoch: 1, from, to: from + 1 }] })
}

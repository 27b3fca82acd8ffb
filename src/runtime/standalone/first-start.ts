// Tries the ports of a first start before it makes a database, so that a start without its ports
// leaves no file behind. Where the database exists, its lock comes first: the process that holds
// the lock usually has the ports too, and the refusal names that process.

import { existsSync } from 'node:fs'

import { cannotListen } from '#domain/listen-address'
import type { Config } from '#src/config/config'
import { portsOf } from '#src/config/ports'
import { whyNotBound } from '#src/http/port-check'
import { sqliteFileOf } from '#src/store/sqlite/source'

/** Rejects with a sentence for the operator when a new database would have no listener. */
export async function tryPortsOnFirstStart(config: Config): Promise<void> {
  const file = sqliteFileOf(config.databaseUrl)
  if (file === undefined || existsSync(file)) return
  for (const { protocol, ...address } of portsOf(config)) {
    const reason = await whyNotBound(address, protocol)
    if (reason !== undefined) throw cannotListen(address, reason)
  }
}

// The servers of a cluster in tests: one nats-server and one database.

import type { MariaDbServer } from '#src/dev/servers/mariadb'
import type { NatsServer } from '#src/dev/servers/nats'
import { startTestDatabase, startTestNats } from '#test/support/current-servers'
import { newDatabase } from '#test/support/mariadb'
import { only } from '#test/support/nats'
import type { Started } from '#test/support/shared-servers'

export interface Servers {
  readonly nats: NatsServer
  readonly mariaDb: MariaDbServer
  /** The database that follows the log of the nats-server. */
  readonly databaseUrl: string
}

/** Syncing before COMMIT answers costs more than all else, and no test cuts the power. */
const MARIADB_PARAMETERS = ['--innodb-flush-log-at-trx-commit=2']

/** Starts both, with a new database. */
export async function startServers(): Promise<Started<Servers>> {
  const nats = await startTestNats()
  if (nats.kind === 'missing') return nats
  const mariaDb = await startTestDatabase(MARIADB_PARAMETERS)
  if (mariaDb.kind === 'missing') {
    for (const server of nats.servers) await server.stop()
    return mariaDb
  }
  const databaseUrl = await newDatabase(mariaDb.server)
  const servers = { nats: only(nats.servers), mariaDb: mariaDb.server, databaseUrl }
  return { kind: 'started', servers }
}

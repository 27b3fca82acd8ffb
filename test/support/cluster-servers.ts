// The servers of a cluster in tests: one nats-server and one database.

import type { ExecutionContext } from 'ava'

import type { MariaDbServer } from '#src/dev/servers/mariadb'
import type { NatsServer } from '#src/dev/servers/nats'
import { startTestDatabase, startTestNats, UNSYNCED } from '#test/support/current-servers'
import { newDatabase } from '#test/support/mariadb'
import { only } from '#test/support/nats'
import { sharedServers } from '#test/support/shared-servers'
import type { Started } from '#test/support/shared-servers'

export interface Servers {
  readonly nats: NatsServer
  readonly mariaDb: MariaDbServer
  /** The database that follows the log of the nats-server. */
  readonly databaseUrl: string
}

/** Starts both, with a new database. */
export async function startServers(): Promise<Started<Servers>> {
  const nats = await startTestNats()
  if (nats.kind === 'missing') return nats
  const mariaDb = await startTestDatabase(UNSYNCED)
  if (mariaDb.kind === 'missing') {
    for (const server of nats.servers) await server.stop()
    return mariaDb
  }
  const databaseUrl = await newDatabase(mariaDb.server)
  const servers = { nats: only(nats.servers), mariaDb: mariaDb.server, databaseUrl }
  return { kind: 'started', servers }
}

type WithServers = (t: ExecutionContext, servers: Servers) => Promise<void>

/**
 * Declares tests that share one nats-server and one MariaDB, one test at a time; the servers end
 * with the file. Without them such a test gives the reason and passes; under CI=true it fails.
 */
export function testsWithServers(): (title: string, run: WithServers) => void {
  const cluster = sharedServers<Servers>('the cluster', {
    start: startServers,
    stop: async ({ nats, mariaDb }) => {
      await nats.stop()
      await mariaDb.stop()
    },
    isSerial: true,
  })
  return cluster.test
}

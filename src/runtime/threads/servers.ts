// The servers of a process: their addresses, the certificate authorities to trust there, and the
// ways to them. Every thread uses these functions: without the authorities it would trust the
// system's, or no certificate at all.

import type { Provider } from '#domain/push'
import type { ProviderName } from '#domain/push/providers'
import type { ClusterSettings, Config } from '#src/config/config'
import type { ProviderEdge } from '#src/providers/edge'
import type { Opener } from '#src/store/jobs/executor'
import type { Connect } from '#src/stream/jetstream/connection'

/** The ways to the servers, for a process that does not reach them over the network. */
export interface Servers {
  /** Connects to NATS. */
  readonly connect: Connect
  /** Opens the database of an address, in place of a file or a server. */
  readonly opener: (url: string) => Opener
  /** Opens a push provider; absent for those of the network. */
  readonly openProvider?: (name: ProviderName, edge: ProviderEdge) => Promise<Provider | undefined>
}

type DatabaseSettings = Pick<Config, 'databaseUrl' | 'databaseCaFile'>

/** How to open the database of a process. */
export const databaseOf = (
  { databaseUrl: url, databaseCaFile: caFile }: DatabaseSettings,
  servers?: Servers,
) => ({ url, caFile, ...(servers !== undefined && { opener: servers.opener(url) }) })

/** How to connect to the NATS servers of a cluster. */
export const natsOf = (
  { natsUrl: url, natsCaFile: caFile }: ClusterSettings,
  servers?: Servers,
) => ({ url, caFile, ...(servers !== undefined && { connect: servers.connect }) })

// Where the servers of a cluster are, and whom to trust there. Every thread asks here: one that
// left the authorities out would trust those of the system, or no certificate at all.

import type { ClusterSettings, Config } from '#src/config/config'

export const databaseOf = ({
  databaseUrl: url,
  databaseCaFile: caFile,
}: Pick<Config, 'databaseUrl' | 'databaseCaFile'>) => ({ url, caFile })

export const natsOf = ({ natsUrl: url, natsCaFile: caFile }: ClusterSettings) => ({ url, caFile })

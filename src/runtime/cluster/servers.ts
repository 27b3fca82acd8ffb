// The addresses of a cluster's servers, and the authorities to trust there. Every thread asks here:
// a thread that left the authorities out would trust the system's, or no certificate at all.

import type { ClusterSettings, Config } from '#src/config/config'

export const databaseOf = ({
  databaseUrl: url,
  databaseCaFile: caFile,
}: Pick<Config, 'databaseUrl' | 'databaseCaFile'>) => ({ url, caFile })

export const natsOf = ({ natsUrl: url, natsCaFile: caFile }: ClusterSettings) => ({ url, caFile })

// Returns the addresses of a cluster's servers, and the certificate authorities to trust there.
// Every thread uses these functions: without the authorities it would trust the system's, or no
// certificate at all.

import type { ClusterSettings, Config } from '#src/config/config'

export const databaseOf = ({
  databaseUrl: url,
  databaseCaFile: caFile,
}: Pick<Config, 'databaseUrl' | 'databaseCaFile'>) => ({ url, caFile })

export const natsOf = ({ natsUrl: url, natsCaFile: caFile }: ClusterSettings) => ({ url, caFile })

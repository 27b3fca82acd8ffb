// Types the ports of a provider.

import type { Runtime } from '#domain/runtime'
import type { Logger } from '#domain/telemetry'

export interface ProviderEdge {
  readonly runtime: Pick<Runtime, 'nowMs' | 'monotonicMs' | 'every' | 'soon'>
  readonly logger: Logger
  /** Called after the file has new credentials, with which the provider may accept pushes again. */
  readonly credentialsChanged: () => void
}

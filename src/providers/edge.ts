// Types the ports of a provider.

import type { Runtime } from '#domain/runtime'
import type { SecretStore } from '#domain/push/secrets'
import type { Logger, Meter } from '#domain/telemetry'

export interface ProviderEdge {
  readonly runtime: Pick<Runtime, 'nowMs' | 'monotonicMs' | 'every' | 'entropy'>
  readonly logger: Logger
  readonly meter: Meter
  /** Keeps what a provider makes at its first start. */
  readonly secrets: SecretStore
  /** Called after the file has new credentials, with which the provider may accept pushes again. */
  readonly credentialsChanged: () => void
}

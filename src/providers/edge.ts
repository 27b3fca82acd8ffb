// The ports of a provider.

import type { Runtime } from '#domain/runtime'
import type { Logger } from '#domain/telemetry'

export interface ProviderEdge {
  readonly runtime: Pick<Runtime, 'nowMs' | 'monotonicMs' | 'every' | 'soon'>
  readonly logger: Logger
  /** Called when the credentials changed: refused pushes may be tried again. */
  readonly renewed: () => void
}

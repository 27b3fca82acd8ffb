// What a provider is opened with.

import type { Runtime } from '#domain/runtime'
import type { Logger } from '#domain/telemetry'

export interface ProviderEdge {
  readonly runtime: Pick<Runtime, 'nowMs' | 'every' | 'soon'>
  readonly logger: Logger
  /** There are other credentials: what was refused may be tried again. */
  readonly renewed: () => void
}

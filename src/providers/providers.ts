// Lists the push providers, one row and one folder each. A row loads its library only when the
// provider is configured.

import type { Provider, ProviderName } from '#domain/push'
import type { ApnsSettings } from './apns/apns.ts'
import type { ProviderEdge } from './edge.ts'
import type { FcmSettings } from './fcm/fcm.ts'

/** The settings of each configured provider. */
export interface ProviderSettings {
  readonly apns?: ApnsSettings
  readonly fcm?: FcmSettings
}

interface Row<Name extends ProviderName> {
  /** The initial and the greatest limit of pushes in flight. */
  readonly concurrency: { readonly initial: number; readonly max: number }
  /** Rejects with a sentence for the operator. */
  readonly open: (
    settings: NonNullable<ProviderSettings[Name]>,
    edge: ProviderEdge,
  ) => Promise<Provider>
}

export const PROVIDER_TABLE: { readonly [Name in ProviderName]: Row<Name> } = {
  apns: {
    concurrency: { initial: 64, max: 1_000 },
    open: async (settings, edge) => (await import('./apns/apns.ts')).openApns(settings, edge),
  },
  fcm: {
    concurrency: { initial: 100, max: 1_000 },
    open: async (settings, edge) => (await import('./fcm/fcm.ts')).openFcm(settings, edge),
  },
}

// The table of push providers: one row and one folder each. A row loads its library only where the
// provider is set up.

import type { Provider, ProviderName } from '#domain/push'
import type { ApnsSettings } from './apns/apns.ts'
import type { ProviderEdge } from './edge.ts'
import type { FcmSettings } from './fcm/fcm.ts'

/** The settings of each provider; absent: not set up. */
export interface ProviderSettings {
  readonly apns?: ApnsSettings
  readonly fcm?: FcmSettings
}

interface Row<Name extends ProviderName> {
  /** Pushes under way at first and at most. */
  readonly concurrency: { readonly first: number; readonly most: number }
  /** Rejects with a sentence for the operator. */
  readonly open: (
    settings: NonNullable<ProviderSettings[Name]>,
    edge: ProviderEdge,
  ) => Promise<Provider>
}

export const PROVIDER_TABLE: { readonly [Name in ProviderName]: Row<Name> } = {
  apns: {
    concurrency: { first: 64, most: 1_000 },
    open: async (settings, edge) => (await import('./apns/apns.ts')).openApns(settings, edge),
  },
  fcm: {
    concurrency: { first: 100, most: 1_000 },
    open: async (settings, edge) => (await import('./fcm/fcm.ts')).openFcm(settings, edge),
  },
}

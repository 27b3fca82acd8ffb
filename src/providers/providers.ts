// Lists the push providers, one row and one folder each. A row loads its library only when the
// provider is configured. What callers see of a provider is in src/domain/push/providers.ts.

import type { Provider } from '#domain/push'
import { PROVIDERS } from '#domain/push/providers'
import type { ProviderName } from '#domain/push/providers'
import type { SecretStore } from '#domain/store-ports'
import { APNS_SETTINGS } from './apns/settings.ts'
import type { ApnsSettings } from './apns/settings.ts'
import type { ProviderEdge } from './edge.ts'
import { FCM_SETTINGS } from './fcm/settings.ts'
import type { FcmSettings } from './fcm/settings.ts'
import type { SettingsOf } from './settings-of.ts'
import { WEBPUSH_SETTINGS } from './webpush/settings.ts'
import type { WebPushSettings } from './webpush/settings.ts'

/** The settings of each provider that is set up. */
export interface ProviderSettings {
  readonly apns?: ApnsSettings
  readonly fcm?: FcmSettings
  readonly webpush?: WebPushSettings
}

interface Row<Name extends ProviderName> {
  readonly settings: SettingsOf<NonNullable<ProviderSettings[Name]>>
  /** The initial and the greatest limit of pushes in flight. */
  readonly concurrency: { readonly initial: number; readonly max: number }
  /** Rejects with a sentence for the operator. */
  readonly open: (
    settings: NonNullable<ProviderSettings[Name]>,
    edge: ProviderEdge,
  ) => Promise<Provider>
  /** Returns what GET /gateway/profile tells of the provider, under its name. */
  readonly profile?: (secrets: SecretStore) => Promise<object>
}

export const PROVIDER_TABLE: { readonly [Name in ProviderName]: Row<Name> } = {
  apns: {
    settings: APNS_SETTINGS,
    concurrency: { initial: 64, max: 1_000 },
    open: async (settings, edge) => (await import('./apns/apns.ts')).openApns(settings, edge),
  },
  fcm: {
    settings: FCM_SETTINGS,
    concurrency: { initial: 100, max: 1_000 },
    open: async (settings, edge) => (await import('./fcm/fcm.ts')).openFcm(settings, edge),
  },
  webpush: {
    settings: WEBPUSH_SETTINGS,
    concurrency: { initial: 100, max: 1_000 },
    open: async (settings, edge) =>
      (await import('./webpush/webpush.ts')).openWebPush(settings, edge),
    profile: async (secrets) => (await import('./webpush/vapid.ts')).webPushProfile(secrets),
  },
}

/** Opens a provider; resolves to undefined when it is not set up. Rejects as its row does. */
export async function openProvider<Name extends ProviderName>(
  name: Name,
  providers: ProviderSettings,
  edge: ProviderEdge,
): Promise<Provider | undefined> {
  const settings = providers[name]
  return settings === undefined ? undefined : PROVIDER_TABLE[name].open(settings, edge)
}

/** Returns what the profile tells of the providers that are set up, by their names. */
export async function providerProfiles(
  providers: ProviderSettings,
  secrets: SecretStore,
): Promise<Readonly<Record<string, object>>> {
  const profiles: Record<string, object> = {}
  for (const name of PROVIDERS) {
    const { profile } = PROVIDER_TABLE[name]
    if (providers[name] !== undefined && profile !== undefined) {
      profiles[name] = await profile(secrets)
    }
  }
  return profiles
}

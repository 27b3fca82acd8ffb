// Lists the push providers, one row and one folder each. A row loads its library only when the
// provider is configured. What callers see of a provider is in src/domain/push/providers.ts.

import type { Provider } from '#domain/push'
import { PROVIDERS } from '#domain/push/providers'
import type { ProviderName } from '#domain/push/providers'
import type { SecretStore } from '#domain/push/secrets'
import { APNS_SETTINGS } from './apns/settings.ts'
import type { ApnsSettings } from './apns/settings.ts'
import { isPublicAddress } from '#src/outbound/address-guard'
import type { ProviderEdge } from './edge.ts'
import { FCM_SETTINGS } from './fcm/settings.ts'
import type { FcmSettings } from './fcm/settings.ts'
import type { SettingsOf } from './settings-of.ts'
import { endpointProblem } from './webpush/endpoint.ts'
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
  /** Returns why no push can reach a token, as a sentence; undefined when one may. */
  readonly tokenProblem?: (
    token: string,
    settings: NonNullable<ProviderSettings[Name]>,
  ) => string | undefined
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
    // Each service has a limit of its own, so this one is no service's to use up.
    concurrency: { initial: 1_000, max: 1_000 },
    open: async (settings, edge) =>
      (await import('./webpush/webpush.ts')).openWebPush(settings, edge),
    tokenProblem: (token, settings) => endpointProblem(token, settings, isPublicAddress),
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

/** Returns the function that tells why no push can reach a token of a provider, by its rules. */
export const tokenProblemIn =
  (providers: ProviderSettings) =>
  <Name extends ProviderName>(name: Name, token: string): string | undefined => {
    const settings = providers[name]
    return settings && PROVIDER_TABLE[name].tokenProblem?.(token, settings)
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

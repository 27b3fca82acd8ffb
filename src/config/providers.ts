// The settings of the push providers, each read by the provider's own row.

import { PROVIDERS } from '#domain/push/providers'
import { PROVIDER_TABLE } from '#src/providers/providers'
import type { ProviderSettings } from '#src/providers/providers'
import type { ReadingFor } from '#src/providers/settings-of'
import type { Env } from './setting.ts'

/** Reads the settings of every provider; one that is not set up is absent. */
export function providers(env: Env, reading: ReadingFor): ProviderSettings {
  const given = PROVIDERS.flatMap((name) => {
    const settings = PROVIDER_TABLE[name].settings.read(env, reading)
    return settings === undefined ? [] : [[name, Object.freeze(settings)] as const]
  })
  return Object.freeze(Object.fromEntries(given))
}

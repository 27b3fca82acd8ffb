// What is kept of the numbers of Things beyond their updates.

import { TIERS } from '#domain/history/series'
import type { Tier, TierRetention } from '#domain/history/series'
import { DAY_MS, duration, read, refuse } from './setting.ts'
import type { Env } from './setting.ts'

const NAME = 'SERVICE_TIER_RETENTION'
const FALLBACK = '5m:7d,1h:400d,1d:3650d'
const ALLOWED = `off, or some of 5m, 1h and 1d with their durations: ${FALLBACK}`
/** Twenty years. */
const MAX_MS = 7_305 * DAY_MS

/** `5m:7d,1h:400d`: a tier that is not named is not made. */
export function tierRetention(env: Env): TierRetention {
  const kept: Record<Tier, number> = { '5m': 0, '1h': 0, '1d': 0 }
  const text = read(env, NAME) ?? FALLBACK
  if (text === 'off') return Object.freeze(kept)
  for (const part of text.split(',')) {
    const [name = '', life = '', ...rest] = part.trim().split(':')
    const tier = TIERS.find((known) => known === name)
    if (tier === undefined || rest.length > 0) {
      return refuse(NAME, `holds ${JSON.stringify(part.trim())}`, ALLOWED)
    }
    if (kept[tier] > 0) refuse(NAME, `names ${tier} twice`, ALLOWED)
    kept[tier] = duration({ [NAME]: life }, NAME, { fallback: '', min: DAY_MS, max: MAX_MS })
  }
  return Object.freeze(kept)
}

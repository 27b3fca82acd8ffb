// Which pushes of a channel reach this browser, as a form shows them (docs/people.md).

import { MODELS } from '#domain/submission'
import type { Model, Severity } from '#domain/submission'
import type { BodyOf } from '#src/client/bodies'

export type Preferences = BodyOf<'/channel/notify'>['notify']

export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Day = (typeof DAYS)[number]
export type SeverityChoice = Severity | ''

/** A time without sound; no day stands for every day. */
export interface QuietForm {
  readonly days: readonly Day[]
  readonly from: string
  readonly to: string
  readonly zone: string
  readonly unless: SeverityChoice
}

export interface PreferencesForm {
  readonly minSeverity: SeverityChoice
  readonly level: string
  readonly models: readonly Model[]
  readonly scope: 'all' | 'prefix' | 'ids'
  /** The prefix, or ids separated by commas. */
  readonly things: string
  readonly quiet: readonly QuietForm[]
}

/** A night by the clocks of this device. */
export const newQuiet = (zone: string): QuietForm => ({
  days: [],
  from: '22:00',
  to: '07:00',
  zone,
  unless: 'critical',
})

export function preferencesForm(preferences: Preferences): PreferencesForm {
  const { min_severity: minSeverity = '', level = 0, models = MODELS, things } = preferences
  const { ids, prefix } = things ?? {}
  return {
    minSeverity,
    level: String(level),
    models,
    scope: ids !== undefined ? 'ids' : prefix !== undefined ? 'prefix' : 'all',
    things: ids?.join(', ') ?? prefix ?? '',
    quiet: (preferences.quiet ?? []).map(quietForm),
  }
}

const quietForm = (window: NonNullable<Preferences['quiet']>[number]): QuietForm => ({
  days: window.days ?? [],
  from: window.from,
  to: window.to,
  zone: window.time_zone,
  unless: window.unless ?? '',
})

/** What holds without being said is left out. */
export function preferencesFrom(form: PreferencesForm): Preferences {
  const { minSeverity, level, models, scope, things, quiet } = form
  const words = things.split(/[\s,]+/).filter(Boolean)
  return {
    ...(minSeverity !== '' && { min_severity: minSeverity }),
    ...(Number(level) > 0 && { level: Number(level) }),
    ...(models.length < MODELS.length && { models: [...models] }),
    ...(scope === 'ids' && { things: { ids: words } }),
    ...(scope === 'prefix' && { things: { prefix: things.trim() } }),
    ...(quiet.length > 0 && {
      quiet: quiet.map(({ days, from, to, zone, unless }) => ({
        ...(days.length > 0 && days.length < DAYS.length && { days: [...days] }),
        from,
        to,
        time_zone: zone.trim(),
        ...(unless !== '' && { unless }),
      })),
    }),
  }
}

// The form of a subscription's preferences. (Specification: Preferences of a subscription)

import { fault } from '#domain/fault'
import { parseThingId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { DAYS, PREFERRED_THINGS_MAX, QUIET_MAX, knownTimeZone } from '#domain/push/preferences'
import type { Preferences, QuietWindow } from '#domain/push/preferences'
import { MODELS, SEVERITIES } from '#domain/submission'
import { Sent, Wrong } from '#src/rules/reading'
import { named, object, oneOf } from '#src/schemas/json-schema'
import { ENTITY_ID_FORM, exactly } from '#src/schemas/patterns'

const CLOCK_FORM = '(?:[01][0-9]|2[0-3]):[0-5][0-9]'
const CLOCK = new RegExp(exactly(CLOCK_FORM))
const LEVEL_MAX = 9

const ENTITY_ID = { type: 'string', pattern: exactly(ENTITY_ID_FORM) } as const
const IDS = {
  type: 'array',
  minItems: 1,
  maxItems: PREFERRED_THINGS_MAX,
  items: ENTITY_ID,
} as const
const clock = (description: string) =>
  ({ type: 'string', pattern: exactly(CLOCK_FORM), description }) as const

/** Other members are refused: one that is written wrong must not go unnoticed. */
const ONLY = { additionalProperties: false } as const

const QUIET = named('QuietTime', {
  ...object(
    {
      days: {
        type: 'array',
        minItems: 1,
        maxItems: DAYS.length,
        items: { type: 'string', enum: DAYS },
        description: 'The days on which it begins; without them every day.',
      },
      from: clock('When it begins, on the clocks of the time zone: 22:00.'),
      to: clock('When it ends; not later than from for a time of the next day.'),
      time_zone: {
        type: 'string',
        minLength: 1,
        maxLength: 64,
        description: 'A name of the IANA database: Europe/Berlin.',
      },
      unless: oneOf(SEVERITIES, 'Of this severity and above pushes sound all the same.'),
    },
    ['from', 'to', 'time_zone'],
  ),
  ...ONLY,
})

export const PREFERENCES = named('Preferences', {
  ...object(
    {
      min_severity: oneOf(SEVERITIES, 'No push below it; Things count as normal.'),
      level: {
        type: 'integer',
        minimum: 0,
        maximum: LEVEL_MAX,
        description: 'Events push once they have escalated so far; everything else at 0 only.',
      },
      models: {
        type: 'array',
        minItems: 1,
        maxItems: MODELS.length,
        items: { type: 'string', enum: MODELS },
        description: 'No push of other models.',
      },
      things: named('PreferredThings', {
        ...object({ ids: IDS, prefix: ENTITY_ID }, []),
        ...ONLY,
        minProperties: 1,
        maxProperties: 1,
        description:
          `ids, up to ${PREFERRED_THINGS_MAX}, or prefix: no push of other Things. What is about ` +
          'no Thing is not meant.',
      }),
      quiet: {
        type: 'array',
        maxItems: QUIET_MAX,
        items: QUIET,
        description: `Up to ${QUIET_MAX} times within which a push makes no sound.`,
      },
    },
    [],
  ),
  ...ONLY,
  description:
    'Which pushes of the Channel reach the device, and when quietly. It replaces the preferences ' +
    'before; {} ends them. docs/people.md has examples.',
})

/** Reads preferences; the fault names the path of the first wrong member. */
export function readPreferences(sent: unknown, field: string): Answer<Preferences> {
  try {
    return preferencesFrom(new Sent(sent, field))
  } catch (error) {
    if (!(error instanceof Wrong)) throw error
    const { path, rule } = error
    return fault('validation_failed', { field: path, detail: `${path} ${rule}` })
  }
}

const NAMES = ['min_severity', 'level', 'models', 'things', 'quiet'] as const

function preferencesFrom(sent: Sent): Preferences {
  const { min_severity: least, level, models, things, quiet } = sent.members(NAMES)
  return {
    ...(!least.isAbsent && { min_severity: least.oneOf(SEVERITIES) }),
    ...(!level.isAbsent && { level: levelFrom(level) }),
    ...(!models.isAbsent && {
      models: models.list(1, MODELS.length).map((model) => model.oneOf(MODELS)),
    }),
    ...(!things.isAbsent && { things: thingsFrom(things) }),
    ...(!quiet.isAbsent && { quiet: quiet.list(0, QUIET_MAX).map(quietFrom) }),
  }
}

function levelFrom(sent: Sent): number {
  const level = sent.number()
  const isLevel = Number.isInteger(level) && level >= 0 && level <= LEVEL_MAX
  return isLevel ? level : sent.wrong(`must be a whole number from 0 to ${LEVEL_MAX}`)
}

function thingsFrom(sent: Sent): NonNullable<Preferences['things']> {
  const { ids, prefix } = sent.members(['ids', 'prefix'])
  if (ids.isAbsent === prefix.isAbsent) return sent.wrong('must have exactly one of ids, prefix')
  if (!ids.isAbsent) return { ids: ids.ids(parseThingId, PREFERRED_THINGS_MAX) }
  const beginning = parseThingId(prefix.text(64))
  return { prefix: beginning ?? prefix.wrong('must be 1 to 64 letters, digits, _, : or -') }
}

function quietFrom(sent: Sent): QuietWindow {
  const members = sent.members(['days', 'from', 'to', 'time_zone', 'unless'])
  const { days, from, to, time_zone: zone, unless } = members
  const name = knownTimeZone(zone.text(64))
  return {
    ...(!days.isAbsent && {
      days: days.list(1, DAYS.length).map((day) => day.oneOf(DAYS)),
    }),
    from: clockFrom(from),
    to: clockFrom(to),
    time_zone: name ?? zone.wrong('must be a time zone such as Europe/Berlin'),
    ...(!unless.isAbsent && { unless: unless.oneOf(SEVERITIES) }),
  }
}

function clockFrom(sent: Sent): string {
  const clockText = sent.text(5)
  return CLOCK.test(clockText) ? clockText : sent.wrong('must be a time of day such as 22:00')
}

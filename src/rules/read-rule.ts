// Reads a rule as it is put: the first fault by its path, or the compiled rule.

import { parseThingId } from '#domain/identity'
import {
  IDS_MAX,
  LEVELS_MAX,
  METADATA_KEY_MAX,
  METADATA_MAX,
  TAG_MAX,
  TAGS_MAX,
  TEXT_MAX,
} from './limits.ts'
import { TITLE_MAX } from './limits.ts'
import { DEFAULT_SEVERITY, SEVERITIES } from '#domain/submission'
import type { Fields, Json } from '#domain/submission'
import { bare, isRecord } from '#domain/record'
import { opposite, readCondition, readsOf } from './conditions.ts'
import { REMIND_RULE, STEPS_RULE, remindEveryMs, stepsFrom } from './escalation.ts'
import { Sent, Wrong, charactersIn } from './reading.ts'
import type { EventOutput, Level, MessageOutput, Rule, Scope } from './rule.ts'
import { compileWording } from './wording.ts'
import type { Wording } from './wording.ts'

/** Bytes of one rule as JSON. */
export const RULE_BYTES_MAX = 16_384

// What a rule takes in the heap of V8 beside its conditions, and for each character of its JSON and
// each Thing that it names.
const RULE_BYTES = 1_024
const CHARACTER_BYTES = 3
const NAMED_BYTES = 64

/** What is wrong with a rule: `rule.when.all[1].above` and `must be a number`. */
export interface RuleFault {
  readonly kind: 'wrong'
  readonly path: string
  readonly rule: string
}

/** Reads a rule; `sent` is JSON of any form. */
export function readRule(
  sent: unknown,
): { readonly kind: 'rule'; readonly rule: Rule } | RuleFault {
  try {
    return { kind: 'rule', rule: ruleFrom(new Sent(sent, 'rule')) }
  } catch (error) {
    if (error instanceof Wrong) return { kind: 'wrong', path: error.path, rule: error.rule }
    throw error
  }
}

const MEMBERS = [
  'title',
  'things',
  'when',
  'for',
  'clear',
  'clear_for',
  'event',
  'message',
  'enabled',
] as const

function ruleFrom(sent: Sent): Rule {
  const members = sent.members(MEMBERS)
  const text = JSON.stringify(sent.value)
  if (new TextEncoder().encode(text).length > RULE_BYTES_MAX) {
    return sent.wrong(`must be at most ${RULE_BYTES_MAX} bytes of JSON`)
  }
  const { things, when, clear, event, message, enabled } = members
  const scope = scopeFrom(things)
  const holds = readCondition(when)
  if (event.isAbsent === message.isAbsent) return sent.wrong('must have either event or message')
  const title = members.title.optionalText(TITLE_MAX) ?? ''
  const forMs = members.for.duration()
  const clears = clear.isAbsent ? opposite(holds) : readCondition(clear)
  const clearForMs = members.clear_for.duration()
  const output = message.isAbsent ? eventFrom(event) : messageFrom(message)
  const levels = output.kind === 'event' ? output.levels.map((level) => level.when) : []
  const conditions = [holds, clears, ...levels]
  const reads = readsOf(conditions)
  return {
    title,
    scope,
    when: holds,
    forMs,
    clear: clears,
    clearForMs,
    output,
    reads: reads === 'any' ? reads : new Set(reads),
    silences: {
      quiet: holds.silences,
      firing: [clears, ...levels].flatMap(({ silences }) => silences),
    },
    isEnabled: enabled.isAbsent || enabled.boolean(),
    identity: JSON.stringify([things.value, when.value], sortedMembers),
    bytes:
      RULE_BYTES +
      text.length * CHARACTER_BYTES +
      (scope.kind === 'ids' ? scope.ids.size * NAMED_BYTES : 0) +
      conditions.reduce((sum, { bytes }) => sum + bytes, 0),
  }
}

/** Equal JSON gives equal text, whatever the order of its members. */
const sortedMembers = (_: string, value: unknown): unknown =>
  isRecord(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value

function scopeFrom(sent: Sent): Scope {
  if (sent.value === 'all') return { kind: 'all' }
  if (!isRecord(sent.value)) return sent.wrong('must be "all" or an object')
  const { ids, prefix, tag } = sent.members(['ids', 'prefix', 'tag'])
  const given = [ids, prefix, tag].filter((one) => !one.isAbsent)
  if (given.length !== 1) return sent.wrong('must have exactly one of ids, prefix, tag')
  if (!ids.isAbsent) return { kind: 'ids', ids: new Set(ids.ids(parseThingId, IDS_MAX)) }
  return prefix.isAbsent
    ? { kind: 'tag', tag: tag.text(TITLE_MAX) }
    : { kind: 'prefix', prefix: prefixOf(prefix) }
}

/** Reads how ids of Things begin. */
export function prefixOf(sent: Sent): string {
  const prefix = typeof sent.value === 'string' ? parseThingId(sent.value) : undefined
  return prefix ?? sent.wrong('must be 1 to 64 letters, digits, _, : or -')
}

const EVENT = [
  'title',
  'description',
  'message',
  'severity',
  'tags',
  'metadata',
  'levels',
  'update_every',
  'remind_every',
  'escalate',
] as const

function eventFrom(sent: Sent): EventOutput {
  const members = sent.members(EVENT)
  const { title, description, message, levels, severity } = members
  return {
    kind: 'event',
    texts: {
      title: compileWording(title.text(TITLE_MAX)),
      ...optionalWording({ description, message }),
    },
    severity: severityFrom(severity),
    levels: levels.isAbsent ? [] : levels.list(1, LEVELS_MAX).map(levelFrom),
    fields: Object.assign(bare<Json>(), fieldsFrom(members), attentionFrom(members)),
    updateEveryMs: members.update_every.duration(),
  }
}

/** What the Event says about its reminders, as it is. */
function attentionFrom(members: Readonly<Record<'remind_every' | 'escalate', Sent>>): Fields {
  const { remind_every: every, escalate } = members
  if (!every.isAbsent && remindEveryMs(every.value) === undefined) every.wrong(REMIND_RULE)
  const steps = escalate.isAbsent ? undefined : stepsFrom(escalate.value)
  if (!escalate.isAbsent && steps === undefined) escalate.wrong(STEPS_RULE)
  return {
    ...(!every.isAbsent && { remind_every: String(every.value) }),
    ...(steps !== undefined && { escalate: steps as unknown as Json }),
  }
}

function messageFrom(sent: Sent): MessageOutput {
  const members = sent.members(['title', 'body', 'severity', 'tags', 'metadata', 'at_most_every'])
  const { title, body, severity } = members
  return {
    kind: 'message',
    texts: { title: compileWording(title.text(TITLE_MAX)), ...optionalWording({ body }) },
    severity: severityFrom(severity),
    fields: fieldsFrom(members),
    atMostEveryMs: members.at_most_every.duration(),
  }
}

function optionalWording(texts: Readonly<Record<string, Sent>>): Record<string, Wording> {
  const compiled: Record<string, Wording> = {}
  for (const [name, sent] of Object.entries(texts)) {
    if (!sent.isAbsent) compiled[name] = compileWording(sent.text(TEXT_MAX))
  }
  return compiled
}

const severityFrom = (sent: Sent): string =>
  sent.isAbsent ? DEFAULT_SEVERITY : sent.oneOf(SEVERITIES)

function levelFrom(sent: Sent): Level {
  const { when, severity } = sent.members(['when', 'severity'])
  return { when: readCondition(when), severity: severity.oneOf(SEVERITIES) }
}

/** The members that an Event and a Message take over as they are. */
function fieldsFrom({ tags, metadata }: Readonly<Record<'tags' | 'metadata', Sent>>): Fields {
  const fields = bare<Json>()
  if (!tags.isAbsent) fields['tags'] = tags.list(1, TAGS_MAX).map((tag) => tag.text(TAG_MAX))
  if (!metadata.isAbsent) fields['metadata'] = metadataFrom(metadata)
  return fields
}

function metadataFrom(sent: Sent): Json {
  const { value, path } = sent
  if (!isRecord(value)) return sent.wrong('must be an object')
  const made = bare<Json>()
  const named = Object.entries(value)
  if (named.length > METADATA_MAX) return sent.wrong(`must have at most ${METADATA_MAX} members`)
  for (const [name, one] of named) {
    if (name === '' || charactersIn(name) > METADATA_KEY_MAX)
      sent.wrong(`must have keys of 1 to ${METADATA_KEY_MAX} characters`)
    made[name] = new Sent(one, `${path}.${name}`).scalar()
  }
  return made
}

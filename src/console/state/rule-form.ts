// A rule as a form shows it, and as the gateway takes it (docs/rules.md). A rule that has more than
// the form shows is written as JSON alone.

import { isRecord } from '#domain/record'
import type { Json } from '#domain/submission'
import { pairsOf, valuesOf } from './pairs.ts'
import type { Pair } from './pairs.ts'
import { plain, textOf, typed, typedIn } from './text.ts'

export type RuleJson = Readonly<Record<string, Json>>

export const TESTS = [
  'above',
  'below',
  'inside',
  'outside',
  'equals',
  'not_equals',
  'absent',
  'has',
  'silent',
  'cel',
] as const
export type Test = (typeof TESTS)[number]
export const SCOPES = ['all', 'prefix', 'tag', 'ids'] as const
export type Scope = (typeof SCOPES)[number]

/** One condition. `limit` is the upper one of two. */
export interface Part {
  readonly test: Test
  readonly attr: string
  readonly value: string
  readonly limit: string
}

/** A severity for as long as a condition holds. */
export interface Level {
  readonly part: Part
  readonly severity: string
}

/** A step to escalate; `severity`: '' for that of the Event. */
export interface Step {
  readonly after: string
  readonly level: string
  readonly severity: string
}

/** Every text as it is written; blank ones are left out of the rule. */
export interface RuleForm {
  readonly title: string
  readonly isEnabled: boolean
  readonly scope: Scope
  /** The ids, the prefix or the tag. */
  readonly things: string
  readonly join: 'all' | 'any'
  readonly when: readonly Part[]
  readonly for: string
  /** Empty: it clears when `when` does not hold. */
  readonly clear: readonly Part[]
  readonly clearFor: string
  readonly output: 'event' | 'message'
  readonly heading: string
  readonly text: string
  readonly severity: string
  /** Of an Event alone; the last one that holds counts. */
  readonly levels: readonly Level[]
  /** Separated by commas. */
  readonly tags: string
  readonly metadata: readonly Pair[]
  /** Time between two updates, or two Messages. */
  readonly every: string
  /** Of an Event alone: time between two reminders, and whom nobody's answer reaches next. */
  readonly remindEvery: string
  readonly escalate: readonly Step[]
}

export const BLANK_PART: Part = { test: 'above', attr: '', value: '', limit: '' }

export const BLANK_RULE: RuleForm = {
  title: '',
  isEnabled: true,
  scope: 'all',
  things: '',
  join: 'all',
  when: [BLANK_PART],
  for: '',
  clear: [],
  clearFor: '',
  output: 'event',
  heading: '',
  text: '',
  severity: 'normal',
  levels: [],
  tags: '',
  metadata: [],
  every: '',
  remindEvery: '',
  escalate: [],
}

export const isRange = (test: Test): boolean => test === 'inside' || test === 'outside'
/** True for a condition that is about whether a value is there, not about what it is. */
export const isPresence = (test: Test): boolean => test === 'absent' || test === 'has'
/** True for a condition on one attr. */
export const hasAttr = (test: Test): boolean => test !== 'silent' && test !== 'cel'

/** The members of an output whose names differ between an Event and a Message. */
export const OUTPUT = {
  event: { text: 'message', every: 'update_every' },
  message: { text: 'body', every: 'at_most_every' },
} as const

export function ruleFrom(form: RuleForm): RuleJson {
  const { title, scope, things, when, clear, output } = form
  const words = things.split(/[\s,]+/).filter(Boolean)
  const members: Readonly<Record<string, Json>> = {
    title: title.trim(),
    things: scope === 'all' ? 'all' : { [scope]: scope === 'ids' ? words : things.trim() },
    when: conditionFrom(when, form.join),
    for: form.for.trim(),
    clear: clear.length === 0 ? '' : conditionFrom(clear, 'all'),
    clear_for: form.clearFor.trim(),
    [output]: outputFrom(form),
  }
  return { ...given(members), ...(form.isEnabled ? {} : { enabled: false }) }
}

function outputFrom({ output, heading, text, every, ...form }: RuleForm): RuleJson {
  const named = OUTPUT[output]
  const tags = form.tags.split(',').map((tag) => tag.trim())
  const metadata = valuesOf(form.metadata)
  const levels = output === 'event' ? form.levels : []
  return given({
    title: heading.trim(),
    [named.text]: text.trim(),
    severity: form.severity === 'normal' ? '' : form.severity,
    levels: unlessEmpty(levels.map(({ part, severity }) => ({ when: partJson(part), severity }))),
    tags: unlessEmpty(tags.filter(Boolean)),
    metadata: Object.keys(metadata).length === 0 ? '' : metadata,
    [named.every]: every.trim(),
    ...(output === 'event' && {
      remind_every: form.remindEvery.trim(),
      escalate: unlessEmpty(form.escalate.map(stepJson)),
    }),
  })
}

const stepJson = ({ after, level, severity }: Step): Json =>
  given({ after: after.trim(), level: typedIn(level), severity })

const unlessEmpty = (list: readonly Json[]): Json => (list.length === 0 ? '' : list)

const given = (members: Readonly<Record<string, Json>>): RuleJson =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== ''))

const conditionFrom = (parts: readonly Part[], join: 'all' | 'any'): Json =>
  parts.length === 1 ? partJson(parts[0] ?? BLANK_PART) : { [join]: parts.map(partJson) }

function partJson({ test, attr, value, limit }: Part): Json {
  if (!hasAttr(test)) return { [test]: value.trim() }
  // A blank field names no attr; that of an empty name is written as a list.
  const name = attr.trim().startsWith('[') ? typedIn(attr) : attr.trim() || null
  if (test === 'absent') return { attr: name, absent: true }
  if (test === 'has') return { not: { attr: name, absent: true } }
  return { attr: name, [test]: isRange(test) ? [typedIn(value), typedIn(limit)] : typedIn(value) }
}

/** The form of a rule; undefined for one of which the form would lose something. */
export function formFrom(rule: unknown): RuleForm | undefined {
  if (!isRecord(rule)) return undefined
  const sent = rule as RuleJson
  const output = isRecord(sent['message']) ? 'message' : 'event'
  const body = isRecord(sent[output]) ? (sent[output] as RuleJson) : {}
  const { things, when } = sent
  const scope =
    SCOPES.find((name) => name === things || (isRecord(things) && name in things)) ?? 'all'
  const list = isRecord(things) ? (things as RuleJson)[scope] : ''
  const join = isRecord(when) && 'any' in when ? 'any' : 'all'
  const form: RuleForm = {
    title: textOf(sent['title']),
    isEnabled: sent['enabled'] !== false,
    scope,
    things: Array.isArray(list) ? list.map(plain).join(', ') : textOf(list),
    join,
    when: partsOf(when, join),
    for: textOf(sent['for']),
    clear: sent['clear'] === undefined ? [] : partsOf(sent['clear'], 'all'),
    clearFor: textOf(sent['clear_for']),
    output,
    heading: textOf(body['title']),
    text: textOf(body[OUTPUT[output].text]),
    severity: textOf(body['severity']) || 'normal',
    levels: listIn(body['levels']).map(levelOf),
    tags: listIn(body['tags']).map(plain).join(', '),
    metadata: pairsOf(body['metadata']),
    every: textOf(body[OUTPUT[output].every]),
    remindEvery: textOf(body['remind_every']),
    escalate: listIn(body['escalate']).map(stepOf),
  }
  return sorted(ruleFrom(form)) === sorted(withoutDefaults(sent, output)) ? form : undefined
}

/** Members that say what holds without them. */
function withoutDefaults(rule: RuleJson, output: 'event' | 'message'): RuleJson {
  const { enabled, ...rest } = rule
  const body = rest[output]
  const { severity, ...texts } = isRecord(body) ? (body as RuleJson) : {}
  return {
    ...rest,
    ...(enabled !== undefined && enabled !== true && { enabled }),
    [output]: { ...texts, ...(severity !== undefined && severity !== 'normal' && { severity }) },
  }
}

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value)

const listIn = (value: Json | undefined): readonly Json[] => (isList(value) ? value : [])

function levelOf(level: Json): Level {
  const { when, severity } = isRecord(level) ? (level as RuleJson) : {}
  return { part: partOf(when), severity: textOf(severity) }
}

function stepOf(step: Json): Step {
  const { after, level, severity } = isRecord(step) ? (step as RuleJson) : {}
  return { after: textOf(after), level: plain(level), severity: textOf(severity) }
}

function partsOf(condition: Json | undefined, join: 'all' | 'any'): readonly Part[] {
  const several = isRecord(condition) ? (condition as RuleJson)[join] : undefined
  return Array.isArray(several) && several.length > 1 ? several.map(partOf) : [partOf(condition)]
}

function partOf(condition: Json | undefined): Part {
  if (!isRecord(condition)) return BLANK_PART
  const sent = condition as RuleJson
  const { not: opposite } = sent
  if (isRecord(opposite) && opposite['absent'] === true) {
    return { ...partOf(opposite), test: 'has' }
  }
  const test = TESTS.find((name) => name in sent) ?? 'above'
  const { attr, [test]: value = '' } = sent
  const [low, high] = Array.isArray(value) ? (value as readonly Json[]) : [value]
  return {
    test,
    attr: typeof (attr ?? '') === 'string' ? textOf(attr) : JSON.stringify(attr),
    value: test === 'absent' ? '' : hasAttr(test) ? typed(low ?? '') : textOf(low),
    limit: isRange(test) ? typed(high ?? '') : '',
  }
}

/** Equal JSON as equal text, whatever the order of its members. */
const sorted = (value: Json): string =>
  JSON.stringify(value, (_, one: unknown) =>
    isRecord(one)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  )

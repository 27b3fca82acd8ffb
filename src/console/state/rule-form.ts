// A rule as a form shows it, and as the gateway takes it (docs/rules.md). A rule that has more than
// the form shows is written as JSON alone.

import { isRecord } from '#domain/record'
import type { Json } from '#domain/submission'
import { plain, typed, typedIn } from './text.ts'

export type RuleJson = Readonly<Record<string, Json>>

export const TESTS = [
  'above',
  'below',
  'inside',
  'outside',
  'equals',
  'not_equals',
  'absent',
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
  /** Time between two updates, or two Messages. */
  readonly every: string
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
  every: '',
}

export const isRange = (test: Test): boolean => test === 'inside' || test === 'outside'
/** True for a condition on one attr. */
export const hasAttr = (test: Test): boolean => test !== 'silent' && test !== 'cel'

/** The members of an output whose names differ between an Event and a Message. */
const OUTPUT = {
  event: { text: 'message', every: 'update_every' },
  message: { text: 'body', every: 'at_most_every' },
} as const

export function ruleFrom(form: RuleForm): RuleJson {
  const { title, scope, things, when, clear, output, heading, text, severity, every } = form
  const words = things.split(/[\s,]+/).filter(Boolean)
  const named = OUTPUT[output]
  const members: Readonly<Record<string, Json>> = {
    title: title.trim(),
    things: scope === 'all' ? 'all' : { [scope]: scope === 'ids' ? words : things.trim() },
    when: conditionFrom(when, form.join),
    for: form.for.trim(),
    clear: clear.length === 0 ? '' : conditionFrom(clear, 'all'),
    clear_for: form.clearFor.trim(),
    [output]: given({
      title: heading.trim(),
      [named.text]: text.trim(),
      severity: severity === 'normal' ? '' : severity,
      [named.every]: every.trim(),
    }),
  }
  return { ...given(members), ...(form.isEnabled ? {} : { enabled: false }) }
}

const given = (members: Readonly<Record<string, Json>>): RuleJson =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== ''))

const conditionFrom = (parts: readonly Part[], join: 'all' | 'any'): Json =>
  parts.length === 1 ? partJson(parts[0] ?? BLANK_PART) : { [join]: parts.map(partJson) }

function partJson({ test, attr, value, limit }: Part): Json {
  if (!hasAttr(test)) return { [test]: value.trim() }
  const name = attr.trim().startsWith('[') ? typedIn(attr) : attr.trim()
  if (test === 'absent') return { attr: name, absent: true }
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
    every: textOf(body[OUTPUT[output].every]),
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

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

function partsOf(condition: Json | undefined, join: 'all' | 'any'): readonly Part[] {
  const several = isRecord(condition) ? (condition as RuleJson)[join] : undefined
  return Array.isArray(several) && several.length > 1 ? several.map(partOf) : [partOf(condition)]
}

function partOf(condition: Json | undefined): Part {
  if (!isRecord(condition)) return BLANK_PART
  const sent = condition as RuleJson
  const test = TESTS.find((name) => name in sent) ?? 'above'
  const { attr = '', [test]: value = '' } = sent
  const [low, high] = Array.isArray(value) ? (value as readonly Json[]) : [value]
  return {
    test,
    attr: typeof attr === 'string' ? attr : JSON.stringify(attr),
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

/** The path of a condition of the form in its rule. */
export const partPath = (form: RuleForm, of: 'when' | 'clear', at: number): string =>
  form[of].length === 1 ? `rule.${of}` : `rule.${of}.${of === 'when' ? form.join : 'all'}[${at}]`

/** The field at which the form shows a fault: the one with the longest path that leads there. */
export function fieldOf(form: RuleForm, path: string): string | undefined {
  const { text, every } = OUTPUT[form.output]
  const parts = (['when', 'clear'] as const).flatMap((of) =>
    form[of].flatMap(({ test }, at) => {
      const base = partPath(form, of, at)
      const limits = isRange(test) ? [0, 1].map((index) => `${base}.${test}[${index}]`) : []
      return [base, `${base}.attr`, `${base}.${test}`, ...limits]
    }),
  )
  const output = ['title', text, 'severity', every].map((name) => `rule.${form.output}.${name}`)
  const known = ['rule.title', 'rule.things', 'rule.for', 'rule.clear_for', ...parts, ...output]
  return known
    .filter((one) => path === one || path.startsWith(`${one}.`) || path.startsWith(`${one}[`))
    .toSorted((a, b) => b.length - a.length)[0]
}

/** The names of an output's members, as paths. */
export function outputPaths({ output }: RuleForm) {
  const { text, every } = OUTPUT[output]
  const at = `rule.${output}`
  return { heading: `${at}.title`, text: `${at}.${text}`, every: `${at}.${every}` }
}

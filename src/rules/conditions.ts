// Conditions: `when`, `clear` and the levels of an Event, and `where` of a query, compiled into
// closures. A query has forms of its own beside those of rules (src/queries).
//
// Invariants:
//   conditions/1. A condition on a missing value or one of the wrong type fails: it is neither true
//     nor false, and its opposite is neither. `any` holds when one of its parts holds, `all` does
//     not when one of its parts does not, whatever the others do. (R6)

import { isRecord } from '#domain/record'
import type { Fields, Json } from '#domain/submission'
import { compileExpression } from './expression.ts'
import { DEPTH_MAX, NAME_MAX, PARTS_MAX, TESTS } from './limits.ts'
import type { Sent } from './reading.ts'
import { OUT_OF_STEPS } from './work.ts'
import type { Work } from './work.ts'

/** A Thing as conditions see it, at a moment of the lane's clock. */
export interface Facts {
  readonly id: string
  readonly title: string
  /** null marks a removed value. */
  readonly attrs: Fields
  /** The time of the last accepted update; that of the rule for a Thing never heard of. (R4) */
  readonly heardAt: number
  readonly nowMs: number
  /** The budget of what is computed for them. */
  readonly work: Work
}

/** True or false; a text says why the condition fails on these values. (conditions/1) */
export type Verdict = boolean | string

export interface Condition<Seen extends Facts = Facts> {
  readonly verdict: (facts: Seen) => Verdict
  /** The periods of silence that it asks about, in milliseconds. */
  readonly silences: readonly number[]
  /** The attrs that it reads; `any` when only its evaluation tells. */
  readonly reads: readonly string[] | 'any'
  /** An estimate of the bytes that it takes. */
  readonly bytes: number
}

/** Forms of a condition beside those of rules, by the member that tells them apart. */
export type Forms<Seen extends Facts> = Readonly<
  Record<string, (sent: Sent) => Condition<Seen>['verdict']>
>

const FORMS = 'attr, silent, all, any, not or cel'
const PARTS = ['silent', 'all', 'any', 'not', 'cel'] as const

// What conditions take in the heap of V8, rounded up.
const TEST_BYTES = 576
const PART_BYTES = 320

const NOTHING: readonly never[] = []

/** Reads a condition and compiles it. Throws Wrong. */
export function readCondition<Seen extends Facts = Facts>(
  sent: Sent,
  more: Forms<Seen> = {},
  depth = 0,
): Condition<Seen> {
  if (depth > DEPTH_MAX) return sent.wrong(`must not be nested deeper than ${DEPTH_MAX}`)
  const { value } = sent
  const forms = [...Object.keys(more), FORMS].join(', ')
  if (!isRecord(value)) return sent.wrong(`must be an object with ${forms}`)
  if ('attr' in value) return attrCondition(sent)
  const parts = (one: Sent): readonly Condition<Seen>[] =>
    one.list(1, PARTS_MAX).map((part) => readCondition(part, more, depth + 1))
  switch (PARTS.find((name) => name in value)) {
    case 'silent':
      return silentCondition(sent.members(['silent']).silent)
    case 'all':
      return joined(parts(sent.members(['all']).all), false)
    case 'any':
      return joined(parts(sent.members(['any']).any), true)
    case 'not': {
      const part = readCondition(sent.members(['not']).not, more, depth + 1)
      return { ...opposite(part), bytes: PART_BYTES + part.bytes }
    }
    case 'cel':
      return celCondition(sent.members(['cel']).cel)
    case undefined: {
      const [, form] = Object.entries(more).find(([name]) => name in value) ?? []
      if (form === undefined) return sent.wrong(`must have ${forms}`)
      return { verdict: form(sent), silences: NOTHING, reads: NOTHING, bytes: TEST_BYTES }
    }
  }
}

function celCondition(sent: Sent): Condition {
  const { evaluate, reads, bytes } = compileExpression(sent)
  const verdict = ({ id, title, attrs, work }: Facts): Verdict =>
    evaluate({ attrs, thing: { id, title }, work })
  return { verdict, silences: NOTHING, reads, bytes: PART_BYTES + bytes }
}

/** The condition that holds where this one does not, which it shares. (conditions/1) */
export const opposite = <Seen extends Facts>({
  verdict,
  ...rest
}: Condition<Seen>): Condition<Seen> => ({
  ...rest,
  bytes: PART_BYTES,
  verdict: (facts) => {
    const given = verdict(facts)
    return typeof given === 'string' ? given : !given
  },
})

/** `decides`: the verdict of a part that decides the whole. (conditions/1) */
function joined<Seen extends Facts>(
  conditions: readonly Condition<Seen>[],
  decides: boolean,
): Condition<Seen> {
  return {
    verdict: (facts) => {
      let failure: string | undefined
      for (const { verdict } of conditions) {
        const given = verdict(facts)
        if (given === decides) return decides
        if (typeof given === 'string') failure ??= given
      }
      return failure ?? !decides
    },
    silences: conditions.flatMap(({ silences }) => silences),
    reads: readsOf(conditions),
    bytes: conditions.reduce((sum, { bytes }) => sum + bytes, PART_BYTES),
  }
}

/** The attrs that any of these conditions reads. */
export function readsOf(conditions: readonly Pick<Condition, 'reads'>[]): Condition['reads'] {
  const names = new Set<string>()
  for (const { reads } of conditions) {
    if (reads === 'any') return 'any'
    for (const name of reads) names.add(name)
  }
  return [...names]
}

function silentCondition(sent: Sent): Condition {
  if (sent.isAbsent) return sent.wrong('must be a duration')
  const ms = sent.duration()
  return {
    verdict: ({ nowMs, heardAt, work }) => (work.take(1) ? nowMs - heardAt >= ms : OUT_OF_STEPS),
    silences: [ms],
    reads: NOTHING,
    bytes: TEST_BYTES,
  }
}

function attrCondition(sent: Sent): Condition {
  const members = sent.members(['attr', ...TESTS])
  const path = attrPath(members.attr)
  const name = path.join('.')
  const given = TESTS.filter((test) => members[test].value !== undefined)
  const [test] = given
  if (test === undefined || given.length > 1) {
    return sent.wrong(`must have exactly one of ${TESTS.join(', ')}`)
  }
  const valueIn = valueAt(path)
  const about = { silences: NOTHING, reads: path.slice(0, 1), bytes: TEST_BYTES }
  if (test === 'absent') {
    if (members.absent.value !== true) return members.absent.wrong('must be true')
    return { ...about, verdict: absenceOf(valueIn) }
  }
  return { ...about, verdict: verdictOf(name, valueIn, testOf(test, members[test])) }
}

/** A function of its own: its closure keeps nothing of what was sent. */
function verdictOf(
  name: string,
  valueIn: ReturnType<typeof valueAt>,
  holds: ReturnType<typeof testOf>,
): Condition['verdict'] {
  return ({ attrs, work }) => {
    if (!work.take(1)) return OUT_OF_STEPS // work/1
    const value = valueIn(attrs)
    if (value === undefined) return `${name} is missing`
    return holds(value) ?? `${name} is not a number`
  }
}

const absenceOf =
  (valueIn: ReturnType<typeof valueAt>): Condition['verdict'] =>
  ({ attrs, work }) =>
    work.take(1) ? valueIn(attrs) === undefined : OUT_OF_STEPS

/** The names that lead to a value. Throws Wrong. */
export function attrPath(sent: Sent): readonly string[] {
  if (!Array.isArray(sent.value)) return [sent.name(NAME_MAX)]
  return sent.list(1, DEPTH_MAX).map((name) => name.name(NAME_MAX))
}

/** Returns the function that finds a present value; it gives undefined for an absent one. */
export function valueAt([first = '', ...rest]: readonly string[]): (
  attrs: Fields,
) => Json | undefined {
  if (rest.length === 0) {
    return (attrs) => (Object.hasOwn(attrs, first) ? (attrs[first] ?? undefined) : undefined)
  }
  return (attrs) => {
    let value: Json | undefined = attrs
    for (const name of [first, ...rest]) {
      if (!isRecord(value) || !Object.hasOwn(value, name)) return undefined
      value = value[name] as Json
    }
    return value ?? undefined
  }
}

/** The test of a present value; undefined for a value of the wrong type. */
function testOf(
  test: Exclude<(typeof TESTS)[number], 'absent'>,
  sent: Sent,
): (value: Json) => boolean | undefined {
  const ofNumber = (holds: (value: number) => boolean) => (value: Json) =>
    typeof value === 'number' ? holds(value) : undefined
  switch (test) {
    case 'above': {
      const limit = sent.number()
      return ofNumber((value) => value > limit)
    }
    case 'below': {
      const limit = sent.number()
      return ofNumber((value) => value < limit)
    }
    case 'outside':
    case 'inside': {
      const [low, high] = rangeOf(sent)
      const isInside = test === 'inside'
      return ofNumber((value) => (value >= low && value <= high) === isInside)
    }
    case 'equals':
    case 'not_equals': {
      const wanted = sent.scalar()
      const isEqual = test === 'equals'
      return (value) => (value === wanted) === isEqual
    }
  }
}

function rangeOf(sent: Sent): readonly [number, number] {
  const [low, high] = sent.list(2, 2).map((bound) => bound.number())
  if (low === undefined || high === undefined || low > high) {
    return sent.wrong('must be [low, high] with low not above high')
  }
  return [low, high]
}

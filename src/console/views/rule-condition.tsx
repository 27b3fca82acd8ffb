// One condition of a rule.

import { TESTS, hasAttr, isPresence, isRange } from '#console/state/rule-form.ts'
import type { Part, RuleForm, Test } from '#console/state/rule-form.ts'
import { t } from '#console/words/words.ts'
import { Choice, Field } from '#console/parts/form.tsx'

const TEST_WORDS = {
  above: 'testAbove',
  below: 'testBelow',
  inside: 'testInside',
  outside: 'testOutside',
  equals: 'testEquals',
  not_equals: 'testNotEquals',
  absent: 'testAbsent',
  has: 'testHas',
  silent: 'testSilent',
  cel: 'testCel',
} as const

/** What the fields of a form share: the form, its change, and the fault at a path. */
export interface Fields {
  readonly form: RuleForm
  /** An example of what a text of the rule may hold. */
  readonly place: string
  readonly set: (change: Partial<RuleForm>) => void
  readonly problemAt: (...paths: readonly string[]) => string | undefined
}

interface ConditionProps {
  readonly part: Part
  readonly path: string
  readonly problemAt: Fields['problemAt']
  readonly onPart: (part: Part) => void
  readonly onRemove: (() => void) | undefined
  readonly number: number
}

export function Condition({ part, path, problemAt, onPart, onRemove, number }: ConditionProps) {
  const { test, attr, value, limit } = part
  const at = `${path}.${test}`
  const label =
    test === 'silent'
      ? 'duration'
      : test === 'cel'
        ? 'expression'
        : isRange(test)
          ? 'lower'
          : 'limit'
  return (
    <div class="condition">
      {hasAttr(test) && (
        <Field
          label={t('attr')}
          value={attr}
          onValue={(next) => onPart({ ...part, attr: next })}
          problem={problemAt(path, `${path}.attr`, `${path}.not.attr`)}
          input={{ class: 'mono', placeholder: 'temperature' }}
        />
      )}
      <Choice<Test>
        label={t('test')}
        value={test}
        options={TESTS.map((name) => [name, t(TEST_WORDS[name])] as const)}
        onValue={(next) => onPart({ ...part, test: next })}
      />
      {!isPresence(test) && (
        <Field
          label={t(label)}
          value={value}
          onValue={(next) => onPart({ ...part, value: next })}
          problem={problemAt(at, `${at}[0]`, ...(hasAttr(test) ? [] : [path]))}
          input={{ class: 'mono', ...(test === 'silent' && { placeholder: '10m' }) }}
        />
      )}
      {isRange(test) && (
        <Field
          label={t('upper')}
          value={limit}
          onValue={(next) => onPart({ ...part, limit: next })}
          problem={problemAt(`${at}[1]`)}
          input={{ class: 'mono' }}
        />
      )}
      {onRemove !== undefined && (
        <button
          type="button"
          class="quiet"
          aria-label={t('removeCondition', { n: number })}
          onClick={onRemove}
        >
          ✕
        </button>
      )}
    </div>
  )
}

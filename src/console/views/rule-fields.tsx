// The fields of a rule's form. A fault of the gateway stands at the field that its path leads to.

import {
  BLANK_PART,
  SCOPES,
  TESTS,
  fieldOf,
  hasAttr,
  isRange,
  outputPaths,
  partPath,
} from '#console/state/rule-form.ts'
import type { Part, RuleForm, Test } from '#console/state/rule-form.ts'
import type { RuleFault } from '#console/state/rules.ts'
import { t } from '#console/words/words.ts'
import { Choice, Field } from '#console/parts/form.tsx'

const SEVERITIES = ['critical', 'high', 'normal', 'low'] as const

const TEST_WORDS = {
  above: 'testAbove',
  below: 'testBelow',
  inside: 'testInside',
  outside: 'testOutside',
  equals: 'testEquals',
  not_equals: 'testNotEquals',
  absent: 'testAbsent',
  silent: 'testSilent',
  cel: 'testCel',
} as const
const SCOPE_WORDS = {
  all: 'scopeAll',
  prefix: 'scopePrefix',
  tag: 'scopeTag',
  ids: 'scopeIds',
} as const

interface RuleFieldsProps {
  readonly form: RuleForm
  readonly onForm: (form: RuleForm) => void
  readonly fault: RuleFault | undefined
}

/** What the fields of a form share: the form, its change, and the fault at a path. */
interface Fields {
  readonly form: RuleForm
  readonly set: (change: Partial<RuleForm>) => void
  readonly problemAt: (...paths: readonly string[]) => string | undefined
}

export function RuleFields({ form, onForm, fault }: RuleFieldsProps) {
  const place = fault && fieldOf(form, fault.path)
  const problemAt = (...paths: readonly string[]): string | undefined =>
    place !== undefined && paths.includes(place) ? fault?.text : undefined
  const fields: Fields = { form, set: (change) => onForm({ ...form, ...change }), problemAt }
  const { set } = fields
  return (
    <>
      <Field
        label={t('ruleTitle')}
        value={form.title}
        onValue={(title) => set({ title })}
        problem={problemAt('rule.title')}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={form.isEnabled}
          onChange={(event) => set({ isEnabled: event.currentTarget.checked })}
        />
        {t('ruleEnabled')}
      </label>
      <Things {...fields} />
      <When {...fields} />
      <Clear {...fields} />
      <Output {...fields} />
    </>
  )
}

const Things = ({ form, set, problemAt }: Fields) => (
  <fieldset class="fields">
    <legend>{t('whichThings')}</legend>
    <Choice
      label={t('whichThings')}
      isQuiet
      value={form.scope}
      options={SCOPES.map((scope) => [scope, t(SCOPE_WORDS[scope])] as const)}
      onValue={(scope) => set({ scope })}
    />
    {form.scope !== 'all' && (
      <Field
        label={t(SCOPE_WORDS[form.scope])}
        value={form.things}
        onValue={(things) => set({ things })}
        problem={problemAt('rule.things')}
        input={{ class: 'mono' }}
        {...(form.scope === 'ids' && { hint: t('idsHint') })}
      />
    )}
  </fieldset>
)

const When = ({ form, set, problemAt }: Fields) => (
  <fieldset class="fields">
    <legend>{t('when')}</legend>
    {form.when.length > 1 && (
      <Choice
        label={t('join')}
        isQuiet
        value={form.join}
        options={[
          ['all', t('joinAll')],
          ['any', t('joinAny')],
        ]}
        onValue={(join) => set({ join })}
      />
    )}
    {form.when.map((part, at) => (
      <Condition
        key={at}
        part={part}
        path={partPath(form, 'when', at)}
        problemAt={problemAt}
        onPart={(next) => set({ when: form.when.with(at, next) })}
        onRemove={
          form.when.length === 1 ? undefined : () => set({ when: form.when.toSpliced(at, 1) })
        }
        number={at + 1}
      />
    ))}
    <button type="button" class="quiet" onClick={() => set({ when: [...form.when, BLANK_PART] })}>
      {t('addCondition')}
    </button>
    <Field
      label={t('forTime')}
      value={form.for}
      onValue={(text) => set({ for: text })}
      hint={t('durationHint')}
      problem={problemAt('rule.for')}
    />
  </fieldset>
)

const Clear = ({ form, set, problemAt }: Fields) => (
  <fieldset class="fields">
    <legend>{t('clear')}</legend>
    <Choice
      label={t('clear')}
      isQuiet
      value={form.clear.length === 0 ? 'opposite' : 'own'}
      options={[
        ['opposite', t('clearOpposite')],
        ['own', t('clearOwn')],
      ]}
      onValue={(kind) => set({ clear: kind === 'own' ? [BLANK_PART] : [] })}
    />
    {form.clear.map((part, at) => (
      <Condition
        key={at}
        part={part}
        path={partPath(form, 'clear', at)}
        problemAt={problemAt}
        onPart={(next) => set({ clear: form.clear.with(at, next) })}
        onRemove={undefined}
        number={at + 1}
      />
    ))}
    <Field
      label={t('clearFor')}
      value={form.clearFor}
      onValue={(clearFor) => set({ clearFor })}
      hint={t('durationHint')}
      problem={problemAt('rule.clear_for')}
    />
  </fieldset>
)

interface ConditionProps {
  readonly part: Part
  readonly path: string
  readonly problemAt: Fields['problemAt']
  readonly onPart: (part: Part) => void
  readonly onRemove: (() => void) | undefined
  readonly number: number
}

function Condition({ part, path, problemAt, onPart, onRemove, number }: ConditionProps) {
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
          problem={problemAt(path, `${path}.attr`)}
          input={{ class: 'mono', placeholder: 'temperature' }}
        />
      )}
      <Choice<Test>
        label={t('test')}
        value={test}
        options={TESTS.map((name) => [name, t(TEST_WORDS[name])] as const)}
        onValue={(next) => onPart({ ...part, test: next })}
      />
      {test !== 'absent' && (
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

function Output({ form, set, problemAt }: Fields) {
  const paths = outputPaths(form)
  const isEvent = form.output === 'event'
  return (
    <fieldset class="fields">
      <legend>{t('output')}</legend>
      <Choice
        label={t('output')}
        isQuiet
        value={form.output}
        options={[
          ['event', t('outputEvent')],
          ['message', t('outputMessage')],
        ]}
        onValue={(output) => set({ output })}
      />
      <Field
        label={t('title')}
        value={form.heading}
        onValue={(heading) => set({ heading })}
        hint={t('placesHint', { place: '{thing.title}' })}
        problem={problemAt(paths.heading)}
      />
      <Field
        label={t('body')}
        value={form.text}
        onValue={(text) => set({ text })}
        rows={2}
        problem={problemAt(paths.text)}
      />
      <Choice
        label={t('severity')}
        value={form.severity}
        options={SEVERITIES.map((word) => [word, t(word)] as const)}
        onValue={(severity) => set({ severity })}
      />
      <Field
        label={t(isEvent ? 'updateEvery' : 'atMostEvery')}
        value={form.every}
        onValue={(every) => set({ every })}
        hint={t(isEvent ? 'updateHint' : 'everyHint')}
        problem={problemAt(paths.every)}
      />
    </fieldset>
  )
}

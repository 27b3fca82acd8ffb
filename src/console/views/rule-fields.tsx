// The fields of a rule's form. A fault of the gateway stands at the field that its path leads to.

import { BLANK_PART, SCOPES } from '#console/state/rule-form.ts'
import type { RuleForm } from '#console/state/rule-form.ts'
import { placeIn } from '#console/rules/rule-faces.ts'
import { fieldOf, partPath } from '#console/rules/rule-paths.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import type { RuleFault } from '#console/state/rules.ts'
import { language } from '#console/state/saved.ts'
import { t } from '#console/words/words.ts'
import { Check, Choice, Field } from '#console/parts/form.tsx'
import { Condition } from './rule-condition.tsx'
import type { Fields } from './rule-condition.tsx'
import { Output } from './rule-output.tsx'

const SCOPE_WORDS = {
  all: 'scopeAll',
  prefix: 'scopePrefix',
  tag: 'scopeTag',
  ids: 'scopeIds',
} as const

interface RuleFieldsProps {
  readonly channel: LiveChannel
  readonly form: RuleForm
  readonly onForm: (form: RuleForm) => void
  readonly fault: RuleFault | undefined
}

export function RuleFields({ channel, form, onForm, fault }: RuleFieldsProps) {
  const field = fault && fieldOf(form, fault.path)
  const problemAt = (...paths: readonly string[]): string | undefined =>
    field !== undefined && paths.includes(field) ? fault?.text : undefined
  const fields: Fields = {
    form,
    place: placeIn(form, channel.presentation.value, language.value),
    set: (change) => onForm({ ...form, ...change }),
    problemAt,
  }
  const { set } = fields
  return (
    <>
      <Field
        label={t('ruleTitle')}
        value={form.title}
        onValue={(title) => set({ title })}
        problem={problemAt('rule.title')}
      />
      <Check
        label={t('ruleEnabled')}
        isChecked={form.isEnabled}
        onChecked={(isEnabled) => set({ isEnabled })}
      />
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

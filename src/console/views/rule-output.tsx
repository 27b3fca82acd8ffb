// What a rule opens or sends.

import { BLANK_PART, levelPath, outputPaths } from '#console/state/rule-form.ts'
import type { Level } from '#console/state/rule-form.ts'
import { t } from '#console/words/words.ts'
import { Choice, Field } from '#console/parts/form.tsx'
import { Pairs } from '#console/parts/pairs.tsx'
import { Condition } from './rule-condition.tsx'
import type { Fields } from './rule-condition.tsx'

const SEVERITIES = ['critical', 'high', 'normal', 'low'] as const
const NEW_LEVEL: Level = { part: BLANK_PART, severity: 'critical' }

export function Output(fields: Fields) {
  const { form, set, problemAt } = fields
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
      <SeverityChoice value={form.severity} onValue={(severity) => set({ severity })} />
      {isEvent && <Levels {...fields} />}
      <Field
        label={t('tags')}
        value={form.tags}
        onValue={(tags) => set({ tags })}
        hint={t('tagsHint')}
        problem={problemAt(paths.tags)}
      />
      <Pairs
        legend={t('metadata')}
        pairs={form.metadata}
        onPairs={(metadata) => set({ metadata })}
        problem={problemAt(paths.metadata)}
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

interface SeverityProps {
  readonly value: string
  readonly onValue: (severity: string) => void
}

const SeverityChoice = ({ value, onValue }: SeverityProps) => (
  <Choice
    label={t('severity')}
    value={value}
    options={SEVERITIES.map((word) => [word, t(word)] as const)}
    onValue={onValue}
  />
)

/** Severities of an Event for as long as conditions hold, the last one that holds. */
function Levels({ form: { levels }, set, problemAt }: Fields) {
  const change = (at: number, next: Partial<Level>): void =>
    set({ levels: levels.map((level, index) => (index === at ? { ...level, ...next } : level)) })
  return (
    <fieldset class="fields levels">
      <legend>{t('levels')}</legend>
      {levels.map(({ part, severity }, at) => (
        <div class="level" key={at}>
          <SeverityChoice value={severity} onValue={(next) => change(at, { severity: next })} />
          <Condition
            part={part}
            path={`${levelPath(at)}.when`}
            problemAt={problemAt}
            onPart={(next) => change(at, { part: next })}
            onRemove={() => set({ levels: levels.toSpliced(at, 1) })}
            number={at + 1}
          />
        </div>
      ))}
      <button type="button" class="quiet" onClick={() => set({ levels: [...levels, NEW_LEVEL] })}>
        {t('addLevel')}
      </button>
    </fieldset>
  )
}

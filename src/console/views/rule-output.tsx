// What a rule opens or sends.

import { BLANK_PART } from '#console/state/rule-form.ts'
import type { Level, Step } from '#console/state/rule-form.ts'
import { levelPath, outputPaths } from '#console/rules/rule-paths.ts'
import { t } from '#console/words/words.ts'
import { Choice, Field } from '#console/parts/form.tsx'
import { Pairs } from '#console/parts/pairs.tsx'
import { SeverityChoice } from '#console/parts/severity.tsx'
import { Condition } from './rule-condition.tsx'
import type { Fields } from './rule-condition.tsx'

const NEW_LEVEL: Level = { part: BLANK_PART, severity: 'critical' }

export function Output(fields: Fields) {
  const { form, place, set, problemAt } = fields
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
        hint={t('placesHint', { place })}
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
      {isEvent && <Asking {...fields} />}
    </fieldset>
  )
}

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

const STEPS_MAX = 5

/** How people are asked again, until somebody has the Event. */
function Asking({ form, set, problemAt }: Fields) {
  const { remindEvery, escalate } = form
  const paths = outputPaths(form)
  const change = (at: number, next: Partial<Step>): void =>
    set({ escalate: escalate.map((step, index) => (index === at ? { ...step, ...next } : step)) })
  const problem = problemAt(paths.escalate)
  return (
    <fieldset class="fields">
      <legend>{t('asking')}</legend>
      <Field
        label={t('remindEvery')}
        value={remindEvery}
        onValue={(text) => set({ remindEvery: text })}
        hint={t('remindHint')}
        problem={problemAt(paths.remindEvery)}
      />
      {escalate.map((step, at) => (
        <div class="condition" key={at}>
          <Field
            label={t('escalateAfter')}
            value={step.after}
            onValue={(after) => change(at, { after })}
            problem={at === 0 ? problem : undefined}
            input={{ class: 'mono', placeholder: '30m' }}
          />
          <Field
            label={t('escalateLevel')}
            value={step.level}
            onValue={(level) => change(at, { level })}
            input={{ class: 'mono' }}
          />
          <SeverityChoice
            value={step.severity}
            none={t('sameSeverity')}
            onValue={(severity) => change(at, { severity })}
          />
          <button
            type="button"
            class="quiet"
            aria-label={t('removeStep', { n: at + 1 })}
            onClick={() => set({ escalate: escalate.toSpliced(at, 1) })}
          >
            ✕
          </button>
        </div>
      ))}
      {escalate.length < STEPS_MAX && (
        <button
          type="button"
          class="quiet"
          onClick={() => set({ escalate: [...escalate, nextStep(escalate.length)] })}
        >
          {t('addStep')}
        </button>
      )}
    </fieldset>
  )
}

const nextStep = (count: number): Step => ({ after: '', level: String(count + 1), severity: '' })

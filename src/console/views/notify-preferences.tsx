// Which notifications of a channel this browser wants, and when without a sound.

import { useEffect, useState } from 'preact/hooks'

import { QUIET_MAX } from '#domain/push/preferences'
import { MODELS } from '#domain/submission'
import { readPreferences, writePreferences } from '#console/notifications/subscribing.ts'
import { DAYS, newQuiet, preferencesForm, preferencesFrom } from '#console/people/preferences.ts'
import type { PreferencesForm, QuietForm } from '#console/people/preferences.ts'
import { weekday, t } from '#console/words/words.ts'
import { Choice, Chosen, Field, Form } from '#console/parts/form.tsx'
import { SeverityChoice } from '#console/parts/severity.tsx'

const SCOPE_WORDS = { all: 'scopeAll', prefix: 'scopePrefix', ids: 'scopeIds' } as const
const SCOPES = ['all', 'prefix', 'ids'] as const
const LEVELS = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'] as const

export function NotifyPreferences({ channelId }: { readonly channelId: string }) {
  const [form, setForm] = useState<PreferencesForm>()
  const [isDone, setDone] = useState(false)
  useEffect(() => {
    readPreferences(channelId).then(
      (preferences) => setForm(preferencesForm(preferences)),
      () => {},
    )
  }, [channelId])
  if (form === undefined) return null
  const set = (change: Partial<PreferencesForm>): void => {
    setDone(false)
    setForm({ ...form, ...change })
  }
  return (
    <details class="preferences">
      <summary>{t('notifyWhich')}</summary>
      <Form
        button={t('notifySave')}
        onSubmit={() =>
          writePreferences(channelId, preferencesFrom(form)).then(() => setDone(true))
        }
      >
        <SeverityChoice
          label={t('notifyLeast')}
          none={t('filterAll')}
          value={form.minSeverity}
          onValue={(minSeverity) => set({ minSeverity })}
        />
        <Choice
          label={t('notifyLevel')}
          value={form.level}
          options={LEVELS.map(
            (level) =>
              [level, level === '0' ? t('notifyAtOnce') : t('atLevel', { level })] as const,
          )}
          onValue={(level) => set({ level })}
        />
        <fieldset>
          <legend>{t('notifyModels')}</legend>
          <Chosen
            names={MODELS}
            chosen={form.models}
            textOf={(name) => t(name)}
            onChosen={(models) => set({ models })}
          />
        </fieldset>
        <Choice
          label={t('whichThings')}
          value={form.scope}
          options={SCOPES.map((scope) => [scope, t(SCOPE_WORDS[scope])] as const)}
          onValue={(scope) => set({ scope })}
        />
        {form.scope !== 'all' && (
          <Field
            label={t(SCOPE_WORDS[form.scope])}
            value={form.things}
            onValue={(things) => set({ things })}
            input={{ class: 'mono' }}
          />
        )}
        <QuietTimes form={form} set={set} />
      </Form>
      <p role="status">{isDone && t('notifySaved')}</p>
    </details>
  )
}

interface QuietTimesProps {
  readonly form: PreferencesForm
  readonly set: (change: Partial<PreferencesForm>) => void
}

function QuietTimes({ form: { quiet }, set }: QuietTimesProps) {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  return (
    <>
      {quiet.map((window, at) => (
        <Quiet
          key={at}
          window={window}
          onWindow={(next) => set({ quiet: quiet.with(at, next) })}
          onRemove={() => set({ quiet: quiet.toSpliced(at, 1) })}
        />
      ))}
      {quiet.length < QUIET_MAX && (
        <button
          type="button"
          class="quiet"
          onClick={() => set({ quiet: [...quiet, newQuiet(timeZone)] })}
        >
          {t('addQuiet')}
        </button>
      )}
    </>
  )
}

interface QuietProps {
  readonly window: QuietForm
  readonly onWindow: (window: QuietForm) => void
  readonly onRemove: () => void
}

const Quiet = ({ window, onWindow, onRemove }: QuietProps) => (
  <fieldset class="fields">
    <legend>{t('quietTime')}</legend>
    <Chosen
      names={DAYS}
      chosen={window.days.length === 0 ? DAYS : window.days}
      textOf={(day) => weekday(DAYS.indexOf(day))}
      onChosen={(days) => onWindow({ ...window, days })}
    />
    <div class="condition">
      {(['from', 'to'] as const).map((name) => (
        <Field
          key={name}
          label={t(name === 'from' ? 'lower' : 'upper')}
          value={window[name]}
          onValue={(time) => onWindow({ ...window, [name]: time })}
          input={{ type: 'time' }}
        />
      ))}
    </div>
    <Field
      label={t('timeZone')}
      value={window.zone}
      onValue={(zone) => onWindow({ ...window, zone })}
      hint={t('timeZoneHint')}
    />
    <SeverityChoice
      label={t('quietUnless')}
      none={t('quietNone')}
      value={window.unless}
      onValue={(unless) => onWindow({ ...window, unless })}
    />
    <button type="button" class="quiet" onClick={onRemove}>
      {t('removeQuiet')}
    </button>
  </fieldset>
)

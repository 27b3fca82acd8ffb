// Sends a Message, an Event or an update of a Thing, and shows the command that does the same.

import { useState } from 'preact/hooks'

import type { LiveChannel } from '#console/state/live-channel.ts'
import { EMPTY_PAIR, valuesOf } from '#console/state/pairs.ts'
import type { Pair } from '#console/state/pairs.ts'
import { SECRET_NAME, commandFor, submit } from '#console/state/submissions.ts'
import type { Draft, Model } from '#console/state/submissions.ts'
import { t } from '#console/words/words.ts'
import { Choice, Field, Form } from '#console/parts/form.tsx'
import { Pairs } from '#console/parts/pairs.tsx'
import { Copy } from '#console/parts/text.tsx'

const MODELS = ['message', 'event', 'thing'] as const
const SEVERITIES = ['critical', 'high', 'normal', 'low'] as const
const THING_ID = /^[A-Za-z0-9_:-]{1,64}$/

const BLANK: Omit<Draft, 'attrs'> = {
  title: '',
  body: '',
  severity: 'normal',
  link: '',
  thingId: '',
  tags: '',
}

interface SendProps {
  readonly channel: LiveChannel
  /** The Thing to update, when that is what the form is for. */
  readonly thingId?: string
}

export function Send({ channel, thingId }: SendProps) {
  const [model, setModel] = useState<Model>(thingId === undefined ? 'message' : 'thing')
  const [fields, setFields] = useState({ ...BLANK, thingId: thingId ?? '' })
  const [pairs, setPairs] = useState<readonly Pair[]>([EMPTY_PAIR])
  const [isTried, setTried] = useState(false)
  const [sent, setSent] = useState<string>()
  const draft: Draft = { ...fields, attrs: model === 'message' ? {} : valuesOf(pairs) }
  const set = (name: keyof typeof BLANK) => (value: string) =>
    setFields((before) => ({ ...before, [name]: value }))
  const problems = problemsOf(model, draft)
  const send = (): Promise<void> | undefined => {
    setTried(true)
    setSent(undefined)
    if (Object.keys(problems).length > 0) return undefined
    return submit(channel.id, model, draft).then((id) => {
      setSent(id)
      setTried(false)
      setFields((before) => ({ ...before, title: '', body: '' }))
    })
  }
  const shown = isTried ? problems : {}
  const isFixed = thingId !== undefined
  return (
    <div class="send">
      {thingId === undefined && (
        <header class="view">
          <h1>{t('send')}</h1>
        </header>
      )}
      <div class="columns">
        <section class="card">
          {thingId === undefined && <Models model={model} onModel={setModel} />}
          <Form button={t('sendButton')} onSubmit={send}>
            <DraftFields
              model={model}
              draft={draft}
              set={set}
              problems={shown}
              isNamed={!isFixed}
            />
            {model !== 'message' && <Pairs pairs={pairs} onPairs={setPairs} />}
          </Form>
          <p role="status">{sent !== undefined && t('sent', { id: sent })}</p>
        </section>
        <Command text={commandFor(channel.id, model, draft)} />
      </div>
    </div>
  )
}

interface DraftFieldsProps {
  readonly model: Model
  readonly draft: Draft
  readonly set: (name: keyof typeof BLANK) => (value: string) => void
  readonly problems: Partial<Record<keyof Draft, string>>
  /** True for a form that asks for the id of the Thing. */
  readonly isNamed: boolean
}

const DraftFields = ({ model, draft, set, problems, isNamed }: DraftFieldsProps) => (
  <>
    {isNamed && model === 'thing' && <ThingId draft={draft} set={set} problem={problems.thingId} />}
    <Field label={t('title')} value={draft.title} onValue={set('title')} problem={problems.title} />
    <Field
      label={t(model === 'thing' ? 'description' : 'body')}
      value={draft.body}
      onValue={set('body')}
      rows={model === 'thing' ? 2 : 4}
      {...(model === 'message' && { hint: t('bodyHint') })}
    />
    {model !== 'thing' && (
      <Choice
        label={t('severity')}
        value={draft.severity}
        options={SEVERITIES.map((word) => [word, t(word)] as const)}
        onValue={set('severity')}
      />
    )}
    {model === 'message' && <Field label={t('link')} value={draft.link} onValue={set('link')} />}
    {model !== 'thing' && <ThingId draft={draft} set={set} problem={problems.thingId} />}
    <Field label={t('tags')} value={draft.tags} onValue={set('tags')} hint={t('tagsHint')} />
  </>
)

interface ThingIdProps {
  readonly draft: Draft
  readonly set: (name: 'thingId') => (value: string) => void
  readonly problem: string | undefined
}

const ThingId = ({ draft, set, problem }: ThingIdProps) => (
  <Field
    label={t('thingId')}
    value={draft.thingId}
    onValue={set('thingId')}
    problem={problem}
    input={{ class: 'mono', maxLength: 64 }}
  />
)

function problemsOf(model: Model, { title, thingId }: Draft): Partial<Record<keyof Draft, string>> {
  const id = thingId.trim()
  const isIdWrong = id === '' ? model === 'thing' : !THING_ID.test(id)
  return {
    ...(model === 'message' && title.trim() === '' && { title: t('titleNeeded') }),
    ...(isIdWrong && { thingId: t('thingIdForm') }),
  }
}

interface ModelsProps {
  readonly model: Model
  readonly onModel: (model: Model) => void
}

const Models = ({ model, onModel }: ModelsProps) => (
  <fieldset>
    <legend>{t('model')}</legend>
    <div class="models">
      {MODELS.map((name) => (
        <label class="check" key={name}>
          <input
            type="radio"
            name="model"
            checked={name === model}
            onChange={() => onModel(name)}
          />
          {t(name)}
        </label>
      ))}
    </div>
  </fieldset>
)

const Command = ({ text }: { readonly text: string }) => (
  <section class="card">
    <h2>{t('asCommand')}</h2>
    <p>{t('asCommandHint', { name: SECRET_NAME })}</p>
    <pre class="command" tabIndex={0} aria-label={t('asCommand')} role="region">
      {text}
    </pre>
    <div>
      <Copy text={text} />
    </div>
  </section>
)

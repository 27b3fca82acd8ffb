// Sends a Message, an Event or an update of a Thing, and shows the command that does the same.

import { useState } from 'preact/hooks'

import { MODELS } from '#domain/submission'
import type { Model } from '#domain/submission'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { EMPTY_PAIR, valuesOf } from '#console/state/pairs.ts'
import type { Pair } from '#console/state/pairs.ts'
import { nowMs } from '#console/state/clock.ts'
import { BLANK_DRAFT, WHENS, sentAt } from '#console/state/drafts.ts'
import type { Draft } from '#console/state/drafts.ts'
import { commandFor, submit } from '#console/state/submissions.ts'
import { hashOf } from '#console/state/route.ts'
import type { Route } from '#console/state/route.ts'
import { t } from '#console/words/words.ts'
import { Field, Form, Radios, Choice } from '#console/parts/form.tsx'
import { Card } from '#console/parts/page.tsx'
import { Pairs } from '#console/parts/pairs.tsx'
import { Command } from '#console/parts/command.tsx'
import { SeverityChoice } from '#console/parts/severity.tsx'

const THING_ID = /^[A-Za-z0-9_:-]{1,64}$/

const WHEN_WORDS = { now: 'sendNow', delay: 'sendLater', at: 'sendAt' } as const

type TextField = Exclude<keyof Draft, 'attrs'>

interface SendProps {
  readonly channel: LiveChannel
  /** The Thing to update, when that is what the form is for. */
  readonly thingId?: string
}

/** What was sent, and where it is seen. */
interface Sent {
  readonly to: Route
  readonly isLater: boolean
}

const placeOf = (channelId: string, model: Model, id: string): Route =>
  model === 'message' ? { view: 'messages', channelId } : { view: model, channelId, id }

export function Send({ channel, thingId }: SendProps) {
  const [model, setModel] = useState<Model>(thingId === undefined ? 'message' : 'thing')
  const [fields, setFields] = useState({ ...BLANK_DRAFT, thingId: thingId ?? '' })
  const [pairs, setPairs] = useState<readonly Pair[]>([EMPTY_PAIR])
  const [isTried, setTried] = useState(false)
  const [sent, setSent] = useState<Sent>()
  const draft: Draft = { ...fields, attrs: model === 'message' ? {} : valuesOf(pairs) }
  const set = (name: TextField) => (value: string) =>
    setFields((before) => ({ ...before, [name]: value }))
  const problems = problemsOf(model, draft)
  const send = (): Promise<void> | undefined => {
    setTried(true)
    setSent(undefined)
    if (Object.keys(problems).length > 0) return undefined
    return submit(channel.id, model, draft).then((id) => {
      setSent({ to: placeOf(channel.id, model, id), isLater: draft.when !== 'now' })
      setTried(false)
      // What was written meanwhile stays.
      setFields((before) => ({
        ...before,
        ...(before.title === draft.title && { title: '' }),
        ...(before.body === draft.body && { body: '' }),
      }))
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
          {thingId === undefined && (
            <Radios
              legend={t('model')}
              group="model"
              names={MODELS}
              chosen={model}
              textOf={t}
              onChosen={setModel}
            />
          )}
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
          <p role="status">
            {sent !== undefined && (
              <>
                {t(sent.isLater ? 'sentLater' : 'sent')}{' '}
                <a href={hashOf(sent.to)}>{t(sent.isLater ? 'seeWaiting' : 'seeSent')}</a>
              </>
            )}
          </p>
        </section>
        <Card title={t('asCommand')}>
          <Command text={commandFor(channel.id, model, draft)} />
        </Card>
      </div>
    </div>
  )
}

interface DraftFieldsProps {
  readonly model: Model
  readonly draft: Draft
  readonly set: (name: TextField) => (value: string) => void
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
    {model !== 'thing' && <SeverityChoice value={draft.severity} onValue={set('severity')} />}
    {model === 'message' && <Field label={t('link')} value={draft.link} onValue={set('link')} />}
    {model !== 'thing' && <ThingId draft={draft} set={set} problem={problems.thingId} />}
    <Field label={t('tags')} value={draft.tags} onValue={set('tags')} hint={t('tagsHint')} />
    {model === 'message' && <Schedule draft={draft} set={set} problems={problems} />}
  </>
)

const Schedule = ({
  draft,
  set,
  problems,
}: Pick<DraftFieldsProps, 'draft' | 'set' | 'problems'>) => (
  <>
    <Choice
      label={t('sendWhen')}
      value={draft.when}
      options={WHENS.map((when) => [when, t(WHEN_WORDS[when])] as const)}
      onValue={set('when')}
    />
    {draft.when === 'delay' && (
      <Field
        label={t('delay')}
        value={draft.delay}
        onValue={set('delay')}
        hint={t('delayHint')}
        problem={problems.delay}
        input={{ class: 'mono', placeholder: '8h' }}
      />
    )}
    {draft.when === 'at' && (
      <Field
        label={t('sendTime')}
        value={draft.at}
        onValue={set('at')}
        hint={t('sendTimeHint')}
        problem={problems.at}
        input={{ type: 'datetime-local' }}
      />
    )}
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

function problemsOf(model: Model, draft: Draft): Partial<Record<keyof Draft, string>> {
  const { title, thingId, when } = draft
  const isTimeWrong = model === 'message' && Number.isNaN(sentAt(draft, nowMs()))
  const id = thingId.trim()
  const isIdWrong = id === '' ? model === 'thing' : !THING_ID.test(id)
  return {
    ...(model === 'message' && title.trim() === '' && { title: t('titleNeeded') }),
    ...(isTimeWrong && when === 'delay' && { delay: t('delayForm') }),
    ...(isTimeWrong && when === 'at' && { at: t('sendTimeForm') }),
    ...(isIdWrong && { thingId: t('thingIdForm') }),
  }
}

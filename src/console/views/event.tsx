// One Event: its present state, and its updates one after the other.

import { useEffect, useState } from 'preact/hooks'

import type { EventView } from '#src/client/view'
import type { FeedRecord } from '#src/client/bodies'
import { isRecord, numberIn } from '#domain/record'
import type { Json } from '#domain/submission'
import { nowMs, second } from '#console/state/clock.ts'
import { client, codeOf } from '#console/state/gateway.ts'
import { faceOf } from '#console/model/faces.ts'
import { eventTitle, ruleIdOf } from '#console/people/events.ts'
import { readFeed, readerOf } from '#console/state/history.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { hashOf } from '#console/state/route.ts'
import { titleOf } from '#console/search/search.ts'
import { textOf } from '#console/state/text.ts'
import { localTimes, moment, sentenceOf, t } from '#console/words/words.ts'
import { Acknowledge, Holder } from '#console/parts/acknowledge.tsx'
import { Empty, Form } from '#console/parts/form.tsx'
import { Markdown } from '#console/parts/markdown.tsx'
import { Failure } from '#console/parts/page.tsx'
import { Receipts } from '#console/parts/receipts.tsx'
import { Severity } from '#console/parts/severity.tsx'
import { LongText, Said, TITLE_MAX } from '#console/parts/text.tsx'
import { Value } from '#console/parts/value.tsx'
import { EventCharts } from './event-chart.tsx'
import { Lasting, beganAt } from './events.tsx'

const MONTH_MS = 31 * 86_400_000

/** One Event with its updates. */
export function EventPage({ channel, id }: { readonly channel: LiveChannel; readonly id: string }) {
  const [updates, setUpdates] = useState<readonly FeedRecord[]>([])
  const [failure, setFailure] = useState<unknown>()
  void channel.eventsDrawn.value
  const isCurrent = channel.isCurrent.value
  const event = channel.events.get(id)
  useEffect(() => {
    const ended = new AbortController()
    const { signal } = ended
    const since = nowMs() - MONTH_MS
    const fail = (error: unknown): void => {
      if (!signal.aborted) setFailure(error)
    }
    setFailure(undefined)
    readFeed(channel.id, { sinceMs: since, model: 'event', entityId: id, signal }).then(
      ({ items }) => setUpdates(items),
      fail,
    )
    if (event === undefined) {
      client
        .peek()
        .event.get({ ...readerOf(channel.id), event_id: id }, { signal })
        .then((record) => channel.addEvents([record]), fail)
    }
    return () => ended.abort()
  }, [channel, id, event?.seq, isCurrent])
  if (event !== undefined) return <Opened {...{ channel, event, updates, failure }} />
  if (failure === undefined) return <p class="lead">{t('loading')}</p>
  const isMissing = codeOf(failure) === 'entity_not_found'
  return (
    <Empty
      title={isMissing ? t('eventGone') : sentenceOf(failure)}
      {...(isMissing && { text: t('eventGoneText') })}
    >
      <a href={hashOf({ view: 'events', channelId: channel.id })}>{t('toEvents')}</a>
    </Empty>
  )
}

interface OpenedProps {
  readonly channel: LiveChannel
  readonly event: EventView
  readonly updates: readonly FeedRecord[]
  /** Why there are no updates, or not the newest. */
  readonly failure: unknown
}

function Opened({ channel, event, updates, failure }: OpenedProps) {
  const { id, fields, attrs, state } = event
  const began = beganAt(channel, event)
  return (
    <article class="event">
      <header class="view">
        <h1>
          <LongText key={id} text={localTimes(eventTitle(event), second.value)} max={TITLE_MAX} />
        </h1>
        <p class="sum">
          <span class={`state ${state}`}>{t(state === 'open' ? 'eventOpen' : 'eventClosed')}</span>
          <Severity severity={fields['severity']} />
          <Lasting event={event} channel={channel} />
          {began !== undefined && <time>{moment(began, second.value)}</time>}
          <Holder event={event} />
        </p>
      </header>
      {state === 'open' && (
        <div class="actions">
          <Acknowledge channel={channel} events={[event]} title={eventTitle(event)} />
          <CloseEvent channel={channel} id={id} />
        </div>
      )}
      {(['message', 'description'] as const).map(
        (name) =>
          textOf(fields[name]) !== '' && (
            <div class="text" key={name}>
              <Markdown text={textOf(fields[name])} />
            </div>
          ),
      )}
      <About channel={channel} event={event} />
      <EventCharts channel={channel} event={event} />
      <div class="values tiles">
        <Values channel={channel} event={event} attrs={attrs} />
      </div>
      <h2>{t('updates')}</h2>
      {updates.length === 0 && <Failure error={failure} />}
      <ol class="updates">
        {updates
          .map((entry, at) => (
            <Update key={entry.seq} {...{ channel, event, entry }} before={updates[at - 1]} />
          ))
          .toReversed()}
      </ol>
      <Receipts channelId={channel.id} entityId={id} key={event.seq} />
    </article>
  )
}

interface ValuesProps extends Pick<OpenedProps, 'channel' | 'event'> {
  readonly attrs: Payload
}

/** The values of an Event, as its Thing shows them; its rule has a place of its own. */
function Values({ channel, event, attrs }: ValuesProps) {
  const id = textOf(event.fields['thing_id'])
  const thing = channel.things.get(id) ?? { id, fields: {} }
  return Object.entries(attrs)
    .filter(([name]) => name !== 'rule_id')
    .map(([name, value]) => {
      const face = faceOf(channel.presentation.value, thing, name)
      return <Value key={name} name={name} value={value} face={face} />
    })
}

/** The Thing that an Event is about, and the rule that opened it. */
function About({ channel, event }: Pick<OpenedProps, 'channel' | 'event'>) {
  const thingId = textOf(event.fields['thing_id'])
  const ruleId = ruleIdOf(event)
  if (thingId === '' && ruleId === '') return null
  const thing = channel.things.get(thingId)
  return (
    <p class="sum">
      {thingId !== '' && (
        <span>
          {t('about')}{' '}
          <a href={hashOf({ view: 'thing', channelId: channel.id, id: thingId })}>
            <Said text={thing === undefined ? thingId : titleOf(thing)} />
          </a>
        </span>
      )}
      {ruleId !== '' && (
        <span>
          {t('openedBy')}{' '}
          <a href={hashOf({ view: 'rule', channelId: channel.id, id: ruleId })}>{ruleId}</a>
        </span>
      )}
    </p>
  )
}

const ACTIONS = {
  create: 'created',
  update: 'updated',
  close: 'closed',
  acknowledge: 'acknowledgedWord',
  remind: 'reminded',
  escalate: 'escalated',
} as const

/** What an entry says of people and deadlines. */
function attentionIn(payload: Readonly<Record<string, Json>>): string {
  const { acknowledged_by: by, snoozed_until: until, reminders: n, level } = payload
  const time = typeof until === 'number' ? moment(until, second.value) : ''
  return [
    textOf(by),
    time !== '' && t('snoozedUntil', { time }),
    typeof n === 'number' && t('reminderOf', { n }),
    typeof level === 'number' && t('escalatedTo', { n: level }),
  ]
    .filter(Boolean)
    .join(' · ')
}

interface UpdateProps extends Pick<OpenedProps, 'channel' | 'event'> {
  readonly entry: FeedRecord
  /** The one before it. */
  readonly before: FeedRecord | undefined
}

type Payload = Readonly<Record<string, Json>>
const payloadOf = (entry: FeedRecord | undefined): Payload =>
  isRecord(entry?.payload) ? entry.payload : {}

function Update({ channel, event, entry, before }: UpdateProps) {
  const payload = payloadOf(entry)
  const title = textOf(payload['title'])
  const isRenamed = before !== undefined && title !== textOf(payloadOf(before)['title'])
  const { attrs, message, status, note, severity, event_time: time } = payload
  const action = ACTIONS[entry.action as keyof typeof ACTIONS] ?? 'updated'
  // Reminders and escalations repeat the time of the Event before them.
  const at = entry.action === 'remind' || entry.action === 'escalate' ? undefined : numberIn(time)
  const news = [textOf(status), textOf(message), textOf(note)]
  const texts = [isRenamed ? title : '', attentionIn(payload), ...news]
  return (
    <li>
      <time>
        {moment(numberIn(payload['acknowledged_at']) ?? at ?? entry.accepted_at, second.value)}
      </time>
      <span>{t(action)}</span>
      <Severity severity={severity} />
      <span class="news">
        <LongText text={texts.filter(Boolean).join(' · ')} />
      </span>
      <span class="values">
        {isRecord(attrs) && <Values channel={channel} event={event} attrs={attrs} />}
      </span>
    </li>
  )
}

const CloseEvent = ({ channel, id }: { readonly channel: LiveChannel; readonly id: string }) => (
  <Form
    button={t('closeEvent')}
    isSecond
    onSubmit={() =>
      client.peek().event.close({ ...readerOf(channel.id), event_id: id, event_time: nowMs() })
    }
  >
    {null}
  </Form>
)

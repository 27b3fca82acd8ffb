// One Event: its present state, and its updates one after the other.

import { useEffect, useState } from 'preact/hooks'

import type { EventView } from '#src/client/view'
import type { FeedRecord } from '#src/client/bodies'
import { isRecord } from '#domain/record'
import type { Json } from '#domain/submission'
import { nowMs, second } from '#console/state/clock.ts'
import { client } from '#console/state/gateway.ts'
import { readFeed, readerOf } from '#console/state/history.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { hashOf } from '#console/state/route.ts'
import { moment, t } from '#console/words/words.ts'
import { Empty, Form } from '#console/parts/form.tsx'
import { Severity } from '#console/parts/severity.tsx'
import { LongText, Said } from '#console/parts/text.tsx'
import { Value } from '#console/parts/value.tsx'
import { Lasting, beganAt, eventTitle, numberOf, textOf } from './events.tsx'

const MONTH_MS = 31 * 86_400_000

/** One Event with its updates. */
export function EventPage({ channel, id }: { readonly channel: LiveChannel; readonly id: string }) {
  const [updates, setUpdates] = useState<readonly FeedRecord[]>([])
  const [isMissing, setMissing] = useState(false)
  void channel.eventsDrawn.value
  const event = channel.events.get(id)
  useEffect(() => {
    const ended = new AbortController()
    const { signal } = ended
    const since = nowMs() - MONTH_MS
    readFeed(channel.id, { sinceMs: since, model: 'event', entityId: id, signal })
      .then(({ items }) => setUpdates(items))
      .catch(() => {})
    if (event === undefined) {
      client
        .peek()
        .event.get({ ...readerOf(channel.id), event_id: id }, { signal })
        .then(
          (record) => channel.addEvents([record]),
          () => setMissing(true),
        )
    }
    return () => ended.abort()
  }, [channel, id, event?.seq])
  if (event !== undefined) return <Opened channel={channel} event={event} updates={updates} />
  if (!isMissing) return <p class="lead">{t('loading')}</p>
  return (
    <Empty title={t('eventGone')}>
      <a href={hashOf({ view: 'events', channelId: channel.id })}>{t('toEvents')}</a>
    </Empty>
  )
}

interface OpenedProps {
  readonly channel: LiveChannel
  readonly event: EventView
  readonly updates: readonly FeedRecord[]
}

function Opened({ channel, event, updates }: OpenedProps) {
  const { id, fields, attrs, state } = event
  const thingId = textOf(fields['thing_id'])
  const began = beganAt(channel, event)
  return (
    <article class="event">
      <header class="view">
        <h1>
          <Said text={eventTitle(event)} />
        </h1>
        <p class="sum">
          <span class={`state ${state}`}>{t(state === 'open' ? 'eventOpen' : 'eventClosed')}</span>
          <Severity severity={fields['severity']} />
          <Lasting event={event} channel={channel} />
          {began !== undefined && <time>{moment(began, second.value)}</time>}
        </p>
      </header>
      {textOf(fields['message']) !== '' && (
        <p class="lead">
          <LongText text={textOf(fields['message'])} />
        </p>
      )}
      {textOf(fields['description']) !== '' && (
        <p>
          <LongText text={textOf(fields['description'])} />
        </p>
      )}
      {thingId !== '' && (
        <p>
          {t('about')}{' '}
          <a href={hashOf({ view: 'thing', channelId: channel.id, id: thingId })}>{thingId}</a>
        </p>
      )}
      <div class="values tiles">
        {Object.entries(attrs).map(([name, value]) => (
          <Value key={name} name={name} value={value} />
        ))}
      </div>
      {state === 'open' && <CloseEvent channel={channel} id={id} />}
      <h2>{t('updates')}</h2>
      <ol class="updates">
        {updates.toReversed().map((entry) => (
          <Update key={entry.seq} entry={entry} />
        ))}
      </ol>
    </article>
  )
}

const ACTIONS = { create: 'created', update: 'updated', close: 'closed' } as const

function Update({ entry }: { readonly entry: FeedRecord }) {
  const payload = isRecord(entry.payload) ? (entry.payload as Readonly<Record<string, Json>>) : {}
  const { attrs, message, status, severity, event_time: time } = payload
  const action = ACTIONS[entry.action as keyof typeof ACTIONS] ?? 'updated'
  return (
    <li>
      <time>{moment(numberOf(time) ?? entry.accepted_at, second.value)}</time>
      <span>{t(action)}</span>
      <Severity severity={severity} />
      <span class="news">
        <LongText text={[textOf(status), textOf(message)].filter(Boolean).join(' · ')} />
      </span>
      <span class="values">
        {isRecord(attrs) &&
          Object.entries(attrs as Readonly<Record<string, Json>>).map(([name, value]) => (
            <Value key={name} name={name} value={value} />
          ))}
      </span>
    </li>
  )
}

const CloseEvent = ({ channel, id }: { readonly channel: LiveChannel; readonly id: string }) => (
  <Form
    button={t('closeEvent')}
    onSubmit={() =>
      client.peek().event.close({ ...readerOf(channel.id), event_id: id, event_time: nowMs() })
    }
  >
    {null}
  </Form>
)

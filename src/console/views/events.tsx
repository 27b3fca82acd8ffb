// The Events of a channel: open ones first, the gravest at the top, then what is over.

import { useState } from 'preact/hooks'

import type { EventView } from '#src/client/view'
import type { Json } from '#domain/submission'
import { second } from '#console/state/clock.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { hashOf } from '#console/state/route.ts'
import { moment, span, t } from '#console/words/words.ts'
import { Empty } from '#console/parts/form.tsx'
import { Severity, gravity } from '#console/parts/severity.tsx'
import { Said } from '#console/parts/text.tsx'

export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
export const numberOf = (value: Json | undefined): number | undefined =>
  typeof value === 'number' ? value : undefined

export const eventTitle = ({ id, fields }: EventView): string => textOf(fields['title']) || id

/** When an Event began; undefined where neither it nor its first entry says so. */
export const beganAt = (channel: LiveChannel, { id, fields }: EventView): number | undefined =>
  numberOf(fields['started_at']) ?? channel.began.get(id)
const updatedAt = ({ fields }: EventView): number => numberOf(fields['event_time']) ?? 0
const endedAt = ({ fields }: EventView): number =>
  numberOf(fields['ended_at']) ?? numberOf(fields['event_time']) ?? 0

const CLOSED_SHOWN = 50

export function Events({ channel }: { readonly channel: LiveChannel }) {
  const [shown, setShown] = useState(CLOSED_SHOWN)
  void channel.eventsDrawn.value
  const events = [...channel.events.values()]
  const open = events
    .filter(({ state }) => state === 'open')
    .toSorted(
      (a, b) => gravity(a.fields['severity']) - gravity(b.fields['severity']) || b.seq - a.seq,
    )
  const closed = events.filter(({ state }) => state !== 'open').toSorted((a, b) => b.seq - a.seq)
  return (
    <div class="events">
      <header class="view">
        <h1>{t('events')}</h1>
      </header>
      <section aria-labelledby="open-events">
        <h2 id="open-events">
          {t('openEvents')} <span class="count">{open.length}</span>
        </h2>
        {open.length === 0 ? (
          <Empty title={t('noOpenEvents')} text={t('noOpenEventsText')} />
        ) : (
          <EventList events={open} channel={channel} />
        )}
      </section>
      <section aria-labelledby="closed-events">
        <h2 id="closed-events">{t('closedEvents')}</h2>
        {closed.length === 0 ? (
          <p class="hint">{t('noClosedEvents')}</p>
        ) : (
          <EventList events={closed.slice(0, shown)} channel={channel} />
        )}
        {closed.length > shown && (
          <button type="button" onClick={() => setShown(shown + CLOSED_SHOWN)}>
            {t('more')}
          </button>
        )}
      </section>
    </div>
  )
}

interface EventListProps {
  readonly events: readonly EventView[]
  readonly channel: LiveChannel
}

export const EventList = ({ events, channel }: EventListProps) => (
  <ul class="timeline">
    {events.map((event) => (
      <li key={event.id}>
        <a
          class={event.state === 'open' ? 'open' : 'closed'}
          href={hashOf({ view: 'event', channelId: channel.id, id: event.id })}
        >
          <span class="what">
            <strong>
              <Said text={eventTitle(event)} />
            </strong>
            {textOf(event.fields['message']) !== '' && (
              <span class="news">
                <Said text={textOf(event.fields['message']).slice(0, 200)} />
              </span>
            )}
          </span>
          <Severity severity={event.fields['severity']} />
          <span class="when">
            <Lasting event={event} channel={channel} />
            <time>{moment(beganAt(channel, event) ?? updatedAt(event), second.value)}</time>
          </span>
        </a>
      </li>
    ))}
  </ul>
)

interface LastingProps {
  readonly event: EventView
  readonly channel: LiveChannel
}

export function Lasting({ event, channel }: LastingProps) {
  const isOpen = event.state === 'open'
  const began = beganAt(channel, event)
  if (began === undefined) return null
  const end = isOpen ? second.value : endedAt(event)
  return <>{t(isOpen ? 'lasting' : 'lasted', { age: span(end - began) })}</>
}

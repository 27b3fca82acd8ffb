// The Events of a Thing, and whether the gateway could be asked for them.

import { useEffect, useMemo, useState } from 'preact/hooks'

import type { EventView } from '#src/client/view'
import { loadEventsOf } from '#console/state/history.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { sentenceOf, t } from '#console/words/words.ts'
import { EventList } from './events.tsx'

interface EventsRead {
  /** Open ones first, then the newest. */
  readonly events: readonly EventView[]
  /** False while the gateway is asked for those that the session does not bring. */
  readonly isRead: boolean
  /** Why they could not be read. */
  readonly failure: unknown
}

export function useEvents(channel: LiveChannel, id: string): EventsRead {
  const [isRead, setRead] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  const drawn = channel.eventsDrawn.value
  const isCurrent = channel.isCurrent.value
  useEffect(() => {
    const ended = new AbortController()
    loadEventsOf(channel, id, ended.signal).then(
      () => {
        setFailure(undefined)
        setRead(true)
      },
      (error: unknown) => !ended.signal.aborted && setFailure(error),
    )
    return () => ended.abort()
  }, [channel, id, isCurrent])
  const events = useMemo(
    () =>
      [...channel.events.values()]
        .filter((event) => event.fields['thing_id'] === id)
        .toSorted(
          (a, b) => Number(b.state === 'open') - Number(a.state === 'open') || b.seq - a.seq,
        ),
    [channel, id, drawn],
  )
  return { events, isRead, failure }
}

const EVENTS_LISTED = 8

export function EventsOfThing({
  channel,
  events,
  isRead,
  failure,
}: EventsRead & { readonly channel: LiveChannel }) {
  const [listed, setListed] = useState(EVENTS_LISTED)
  return (
    <section>
      <h2>{t('eventsOfThing')}</h2>
      {failure !== undefined && (
        <p class="problem" role="alert">
          {sentenceOf(failure)}
        </p>
      )}
      {events.length > 0 && <EventList events={events.slice(0, listed)} channel={channel} />}
      {events.length === 0 && failure === undefined && (
        <p class="hint">{t(isRead ? 'noEventsOfThing' : 'loading')}</p>
      )}
      {events.length > listed && (
        <button type="button" onClick={() => setListed(listed * 4)}>
          {t('more')}
        </button>
      )}
    </section>
  )
}

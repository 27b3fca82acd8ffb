// The Events of a Thing, and whether the gateway could be asked for them.

import { useMemo } from 'preact/hooks'

import type { EventView } from '#src/client/view'
import { loadEventsOf } from '#console/state/history.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { t } from '#console/words/words.ts'
import { Failure, useFound, useSome } from '#console/parts/page.tsx'
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
  const drawn = channel.eventsDrawn.value
  const isCurrent = channel.isCurrent.value
  const { found: isRead = false, failure } = useFound(
    (ended) => loadEventsOf(channel, id, ended).then(() => true),
    [channel, id, isCurrent],
  )
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
  const { some, more } = useSome(events, EVENTS_LISTED, (listed) => listed * 4)
  return (
    <section>
      <h2>{t('eventsOfThing')}</h2>
      <Failure error={failure} />
      {events.length > 0 && <EventList events={some} channel={channel} />}
      {events.length === 0 && failure === undefined && (
        <p class="hint">{t(isRead ? 'noEventsOfThing' : 'loading')}</p>
      )}
      {more}
    </section>
  )
}

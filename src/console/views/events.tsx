// The Events of a channel: those that nobody has, those that somebody has, and what is over.

import { useMemo, useState } from 'preact/hooks'

import { numberIn } from '#domain/record'
import type { RuleRecord } from '#src/client/bodies'
import type { EventView } from '#src/client/view'
import { second } from '#console/state/clock.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import {
  TABS,
  endedAt,
  eventTitle,
  groupsByDay,
  groupsByRule,
  isWanted,
  median,
  severityOf,
  tabOf,
  updatedAt,
} from '#console/people/events.ts'
import type { EventGroup, Tab } from '#console/people/events.ts'
import { ask, asked, hashOf } from '#console/state/route.ts'
import { jsonOfRule, listRules } from '#console/state/rules.ts'
import { knownAt } from '#console/state/session.ts'
import { plain, textOf } from '#console/state/text.ts'
import { dayName, localTimes, moment, span, t } from '#console/words/words.ts'
import type { Shade } from '#console/charts/plot.tsx'
import { Acknowledge, Holder } from '#console/parts/acknowledge.tsx'
import { Empty } from '#console/parts/form.tsx'
import { useFound } from '#console/parts/page.tsx'
import { Severity } from '#console/parts/severity.tsx'
import { Said } from '#console/parts/text.tsx'
import { EventTabs, EventWishes } from './event-filters.tsx'

/** When an Event began; undefined where neither it nor its first entry says so. */
export const beganAt = (channel: LiveChannel, { id, fields }: EventView): number | undefined =>
  numberIn(fields['started_at']) ?? channel.began.get(id)

/** The times of Events, as far as their beginning is known. */
export function shadesOf(channel: LiveChannel, events: readonly EventView[]): readonly Shade[] {
  return events.flatMap((event) => {
    const { fields, state } = event
    const fromMs = beganAt(channel, event) ?? numberIn(fields['event_time'])
    if (fromMs === undefined) return []
    const ended = numberIn(fields['ended_at']) ?? numberIn(fields['event_time']) ?? fromMs
    const isGrave = fields['severity'] === 'critical' || fields['severity'] === 'high'
    return [{ fromMs, toMs: state === 'open' ? Infinity : ended, isGrave }]
  })
}

const GROUP_SHOWN = 5
const NO_RULES: readonly RuleRecord[] = []

/** The titles of the rules of a channel by their ids; none where they cannot be read. */
function useRuleTitles(channelId: string): ReadonlyMap<string, string> {
  const { found = NO_RULES } = useFound((ended) => listRules(channelId, ended), [channelId])
  return useMemo(
    () => new Map(found.map((rule) => [rule.rule_id, plain(jsonOfRule(rule)['title'] ?? '')])),
    [found],
  )
}

export function Events({ channel }: { readonly channel: LiveChannel }) {
  const titles = useRuleTitles(channel.id)
  void channel.eventsDrawn.value
  const { search = '', severity = '', rule = '', tag = '', tab: sent } = asked.value
  const tab = TABS.find((name) => name === sent) ?? 'open'
  const present = second.value
  const wish = { search, severity, rule, tag }
  const events = [...channel.events.values()]
  const found = events.filter((event) => isWanted(event, wish))
  const tabs = Map.groupBy(found, (event) => tabOf(event, present))
  const shown = tabs.get(tab) ?? []
  const isFiltered = Object.values(wish).some(Boolean)
  const groups = tab === 'closed' ? groupsByDay(shown) : groupsByRule(shown)
  return (
    <div class="events">
      <header class="view">
        <h1>{t('events')}</h1>
      </header>
      <EventTabs channel={channel} tab={tab} counts={tabs} />
      {events.length > 0 && <EventWishes events={events} wish={wish} titles={titles} />}
      {shown.length === 0 && <NoEvents tab={tab} isFiltered={isFiltered} channel={channel} />}
      {groups.map((group, at) => (
        <Group
          key={group.key}
          group={group}
          title={titles.get(group.ruleId) || group.ruleId}
          channel={channel}
          isNewDay={group.day !== groups[at - 1]?.day}
        />
      ))}
    </div>
  )
}

interface NoEventsProps {
  readonly tab: Tab
  readonly isFiltered: boolean
  readonly channel: LiveChannel
}

/** What an empty list means: away from the gateway nobody knows that nothing is wrong. */
function NoEvents({ tab, isFiltered, channel }: NoEventsProps) {
  if (isFiltered) {
    return (
      <Empty title={t('noEventFound')}>
        <button type="button" onClick={() => ask({ search: '', severity: '', rule: '', tag: '' })}>
          {t('clearSearch')}
        </button>
      </Empty>
    )
  }
  if (tab === 'acknowledged') return <p class="hint">{t('noAcknowledgedEvents')}</p>
  if (tab === 'closed') return <p class="hint">{t('noClosedEvents')}</p>
  const at = knownAt(channel)
  if (Number.isNaN(at)) return <p class="hint">{t('loading')}</p>
  if (at !== undefined) {
    return <p class="hint">{t('noOpenEventsAsOf', { time: moment(at, second.value) })}</p>
  }
  return <Empty title={t('noOpenEvents')} text={t('noOpenEventsText')} />
}

interface GroupProps {
  readonly group: EventGroup
  /** '' for Events of no rule. */
  readonly title: string
  readonly channel: LiveChannel
  readonly isNewDay: boolean
}

function Group(props: GroupProps) {
  const { group, title, channel } = props
  if (group.day !== undefined) return <ClosedGroup {...props} day={group.day} />
  return (
    <section>
      <h2>
        <Said text={title === '' ? t('withoutRule') : title} />{' '}
        <span class="count">{group.events.length}</span>
      </h2>
      <Some events={group.events} channel={channel} />
    </section>
  )
}

/** What a rule had on one day: one line that opens, or the only Event itself. */
function ClosedGroup({ group, title, channel, isNewDay, day }: GroupProps & { day: number }) {
  const { events } = group
  const middle = useMemo(
    () => median(events.flatMap((event) => lastedMs(channel, event))),
    [events],
  )
  const sum = t(middle === undefined ? 'closedCount' : 'closedSum', {
    title: title === '' ? t('withoutRule') : title,
    n: events.length,
    median: middle === undefined ? '' : span(middle),
  })
  return (
    <section>
      {isNewDay && <h2>{dayName(day, second.value)}</h2>}
      {events.length === 1 ? (
        <EventList events={events} channel={channel} />
      ) : (
        <details class="event-group">
          <summary>
            <Said text={sum} />
          </summary>
          <Some events={events} channel={channel} />
        </details>
      )}
    </section>
  )
}

function lastedMs(channel: LiveChannel, event: EventView): readonly number[] {
  const began = beganAt(channel, event)
  return began === undefined ? [] : [Math.max(0, endedAt(event) - began)]
}

/** The first Events of a list, and a button for more. */
function Some({ events, channel }: EventListProps) {
  const [shown, setShown] = useState(GROUP_SHOWN)
  return (
    <>
      <EventList events={events.slice(0, shown)} channel={channel} />
      {events.length > shown && (
        <button type="button" class="quiet" onClick={() => setShown(shown + 10 * GROUP_SHOWN)}>
          {t('moreOf', { n: events.length - shown })}
        </button>
      )}
    </>
  )
}

interface EventListProps {
  readonly events: readonly EventView[]
  readonly channel: LiveChannel
}

export const EventList = ({ events, channel }: EventListProps) => (
  <ul class="timeline">
    {events.map((event) => (
      <Row key={event.id} event={event} channel={channel} />
    ))}
  </ul>
)

interface RowProps {
  readonly event: EventView
  readonly channel: LiveChannel
}

const Row = ({ event, channel }: RowProps) => (
  <li class={event.state === 'open' ? 'event-row' : undefined}>
    <a
      class={event.state === 'open' ? `open ${severityOf(event)}` : 'closed'}
      href={hashOf({ view: 'event', channelId: channel.id, id: event.id })}
    >
      <span class="what">
        <strong>
          <Said text={localTimes(eventTitle(event), second.value)} />
        </strong>
        {textOf(event.fields['message']) !== '' && (
          <span class="news">
            <Said text={textOf(event.fields['message']).slice(0, 200)} />
          </span>
        )}
        <Holder event={event} />
      </span>
      <Severity severity={event.fields['severity']} />
      <span class="when">
        <Lasting event={event} channel={channel} />
        <time>{moment(beganAt(channel, event) ?? updatedAt(event), second.value)}</time>
      </span>
    </a>
    <Acknowledge channel={channel} events={[event]} title={eventTitle(event)} />
  </li>
)

export function Lasting({ event, channel }: RowProps) {
  const isOpen = event.state === 'open'
  const began = beganAt(channel, event)
  if (began === undefined) return null
  const end = isOpen ? second.value : endedAt(event)
  return <>{t(isOpen ? 'lasting' : 'lasted', { age: span(end - began) })}</>
}

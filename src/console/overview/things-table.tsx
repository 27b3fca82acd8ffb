// Things as a table: a row each, a column an attr. A row draws again when its Thing changes, and
// only while it can be seen.

import { computed, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'

import type { EventView, ThingView } from '#src/client/view'
import { second } from '#console/state/clock.ts'
import { faceOf, shownAs } from '#console/model/faces.ts'
import type { LiveChannel, Watched } from '#console/state/live-channel.ts'
import { hashOf } from '#console/state/route.ts'
import { language } from '#console/state/saved.ts'
import { setAt } from '#console/state/attr-times.ts'
import { lookAt } from '#console/state/past/last-hour.ts'
import { observedAt, titleOf } from '#console/search/search.ts'
import { visible } from '#console/state/text.ts'
import { age, t } from '#console/words/words.ts'
import { Line } from '#console/parts/line.tsx'
import { isNarrow } from '#console/parts/narrow.ts'
import { VirtualList } from '#console/parts/virtual-list.tsx'
import { eventTitle } from '#console/people/events.ts'
import type { Opened } from './open-events.ts'
import type { Column, Group, Item } from './rows.ts'
import { troubleOf } from './standing.ts'
import type { Trouble } from './standing.ts'

const ROW_PX = 44
const NARROW_ROW_PX = 64
const NARROW_COLUMNS = 3
/** With more a wider page has no room for their numbers. */
const COLUMNS_MIN = 2
/** What the names, the age and the frame take of the width, and a column of values. */
const BESIDE_PX = 640
const COLUMN_PX = 120
const LAG_MS = 60_000
const VALUE_MAX = 40

const width = signal(innerWidth)
addEventListener('resize', () => {
  width.value = innerWidth
})
/** How many columns have room beside the names. */
const room = computed(() =>
  Math.max(
    isNarrow.value ? NARROW_COLUMNS : COLUMNS_MIN,
    Math.floor((width.value - BESIDE_PX) / COLUMN_PX),
  ),
)

interface TableProps {
  readonly groups: readonly Group[]
  readonly opened: Opened
}

type TableRow =
  | { readonly kind: 'group'; readonly group: Group }
  | { readonly kind: 'thing'; readonly group: Group; readonly item: Item }

export function ThingsTable({ groups, opened }: TableProps) {
  const rows = useMemo(
    () =>
      groups.flatMap((group): TableRow[] => [
        { kind: 'group', group },
        ...group.items.map((item): TableRow => ({ kind: 'thing', group, item })),
      ]),
    [groups],
  )
  return (
    <VirtualList
      label={t('things')}
      count={rows.length}
      rowHeight={isNarrow.value ? NARROW_ROW_PX : ROW_PX}
      keyOf={(index) => keyOf(rows[index])}
    >
      {(index) => {
        const row = rows[index]
        if (row === undefined) return null
        if (row.kind === 'group') return <Heading group={row.group} />
        return <Row group={row.group} item={row.item} opened={opened} />
      }}
    </VirtualList>
  )
}

const keyOf = (row: TableRow | undefined): string => {
  if (row === undefined) return ''
  return row.kind === 'group'
    ? `group ${row.group.name}`
    : `${row.item.channel.id} ${row.item.thing.id}`
}

const shownColumns = ({ columns }: Group): readonly Column[] => columns.slice(0, room.value)

const gridOf = (columns: readonly Column[]) => ({ '--columns': String(columns.length) })

/** The name of a group, and those of its columns. */
function Heading({ group }: { readonly group: Group }) {
  const columns = shownColumns(group)
  const { name, items } = group
  const more = group.columns.length - columns.length
  return (
    <div class="row group" style={gridOf(columns)}>
      <h2>
        {name === ''
          ? t('countThings', { n: items.length })
          : t('group', { name: visible(name), n: items.length })}
      </h2>
      {!isNarrow.value &&
        columns.map(({ name: attr, face }) => (
          <span class={isNumeric(group, attr) ? 'of number' : 'of'} key={attr}>
            <bdi>{visible(face.label ?? attr)}</bdi>
          </span>
        ))}
      <span class="of age">{!isNarrow.value && more > 0 && `+${more}`}</span>
    </div>
  )
}

/** True for a column of numbers: they are aligned at their ends. */
function isNumeric({ items }: Group, attr: string): boolean {
  const first = items.find(({ thing }) => thing.attrs[attr] !== undefined)
  return typeof first?.thing.attrs[attr] === 'number'
}

interface RowProps {
  readonly group: Group
  readonly item: Item
  readonly opened: Opened
}

function Row({ group, item: { channel, thing: before }, opened }: RowProps) {
  void channel.thingsDrawn.value
  const { id } = before
  useEffect(() => lookAt(channel, id), [channel, id, channel.isCurrent.value])
  const thing = channel.things.get(id) ?? before
  const events = opened.of(channel, id)
  const watched = channel.watched(id)
  const columns = shownColumns(group)
  // Most frames change other Things: then nothing of this row is drawn.
  return useMemo(
    () => (
      <ThingRow
        thing={thing}
        channel={channel}
        watched={watched}
        columns={columns}
        events={events}
        trouble={markOf(channel, events, opened)}
      />
    ),
    [thing, watched, watched?.line.version, channel, columns.length, group.columns, events],
  )
}

/** What a Thing is marked with for its open Events. */
export function markOf(
  channel: LiveChannel,
  [worst]: readonly EventView[],
  opened: Opened,
): Trouble | undefined {
  return worst && troubleOf(worst, (ruleId) => opened.isSilence(channel, ruleId))
}

interface ThingRowProps {
  readonly thing: ThingView
  readonly channel: LiveChannel
  readonly watched: Watched | undefined
  readonly columns: readonly Column[]
  readonly events: readonly EventView[]
  readonly trouble: Trouble | undefined
}

function ThingRow({ thing, channel, watched, columns, events, trouble }: ThingRowProps) {
  const { id, attrs, state } = thing
  const at = observedAt(thing)
  const title = titleOf(thing)
  const [worst] = events
  const seen = isNarrow.value
    ? columns.filter(({ name }) => attrs[name] !== undefined).slice(0, NARROW_COLUMNS)
    : columns
  return (
    <a
      class={`row ${trouble ?? 'well'}`}
      style={gridOf(columns)}
      href={hashOf({ view: 'thing', channelId: channel.id, id })}
    >
      <span class="who">
        <strong>
          <bdi>{visible(title)}</bdi>
        </strong>
        <span class="note">
          {trouble !== undefined && <span class="mark">{t(trouble)}</span>}
          {worst !== undefined && <bdi>{visible(eventTitle(worst))}</bdi>}
          {state === 'archived' && <span class="mark">{t('archived')}</span>}
          {worst === undefined && title !== id && <code>{id}</code>}
        </span>
      </span>
      {seen.map(({ name }) => (
        <Cell key={name} name={name} thing={thing} channel={channel} watched={watched} />
      ))}
      <time class="age" dateTime={new Date(at).toISOString()}>
        {age(second.value - at)}
      </time>
    </a>
  )
}

interface CellProps {
  readonly name: string
  readonly thing: ThingView
  readonly channel: LiveChannel
  readonly watched: Watched | undefined
}

/** One value; its own age only where it lags behind the Thing. */
function Cell({ name, thing, channel, watched }: CellProps) {
  const value = thing.attrs[name]
  if (value === undefined) return <span class="cell" />
  const face = faceOf(channel.presentation.value, thing, name)
  const { text, unit } = shownAs(face, name, value, language.value)
  const at = setAt(thing, name)
  const isLate = observedAt(thing) - at >= LAG_MS
  return (
    <span class={typeof value === 'number' ? 'cell number' : 'cell'}>
      <span class="unseen">{visible(face.label ?? name)} </span>
      {watched !== undefined && watched.attr === name && (
        <Line attr={name} face={face} readings={watched.line} version={watched.line.version} />
      )}
      <span class="amount">
        <bdi>{visible(text.slice(0, VALUE_MAX) || '""')}</bdi>
        {unit !== '' && <span class="unit"> {unit}</span>}
      </span>
      {isLate && <span class="since">{age(second.value - at)}</span>}
    </span>
  )
}

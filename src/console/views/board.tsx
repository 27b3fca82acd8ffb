// All Things of a channel, live. A row draws again when its Thing changes, and only while it can be
// seen.

import { signal } from '@preact/signals'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'

import type { ThingView } from '#src/client/view'
import { second } from '#console/state/clock.ts'
import { BLANK_DRAFT } from '#console/state/drafts.ts'
import { wantPast } from '#console/state/past-reads.ts'
import type { LiveChannel, Watched } from '#console/state/live-channel.ts'
import { hashOf } from '#console/state/route.ts'
import { commandFor } from '#console/state/submissions.ts'
import { silentAfterMs } from '#console/state/saved.ts'
import {
  inNameOrder,
  inOrder,
  isFound,
  observedAt,
  queryOf,
  rowsOf,
  titleOf,
} from '#console/state/search.ts'
import type { BoardRow, Order } from '#console/state/search.ts'
import { firstNumber } from '#console/state/units.ts'
import { visible } from '#console/state/text.ts'
import { age, t } from '#console/words/words.ts'
import { Command } from '#console/parts/command.tsx'
import { Choice, Empty, Field } from '#console/parts/form.tsx'
import { Line } from '#console/parts/line.tsx'
import { Value } from '#console/parts/value.tsx'
import { VirtualList } from '#console/parts/virtual-list.tsx'

const SILENCES = [60_000, 600_000, 3_600_000, 86_400_000] as const
const ROW_PX = 56
const NARROW_ROW_PX = 76
const narrow = matchMedia('(max-width: 45rem)')
const isNarrow = signal(narrow.matches)
narrow.addEventListener('change', () => {
  isNarrow.value = narrow.matches
})

interface Wish {
  readonly text: string
  readonly order: Order
  readonly isGrouped: boolean
}

export function Board({ channel }: { readonly channel: LiveChannel }) {
  const [wish, setWish] = useState<Wish>({ text: '', order: 'name', isGrouped: false })
  const all = channel.things.size
  const { rows, silent, found } = useRows(channel, wish)
  void channel.members.value
  return (
    <div class="board">
      <header class="view">
        <h1>{t('board')}</h1>
        <p class="sum" role="status">
          {!channel.isCurrent.value && channel.savedAt.value === undefined && (
            <>{t('loading')} · </>
          )}
          {found === all ? t('countThings', { n: all }) : t('countOf', { n: found, all })}
          {silent > 0 && ` · ${t('silentCount', { n: silent })}`}
        </p>
      </header>
      {all > 0 && <Wishes wish={wish} onWish={setWish} />}
      {all === 0 && <NoThings channel={channel} />}
      {all > 0 && rows.length === 0 && (
        <Empty title={t('noneFound')} text={t('noneFoundText')}>
          <button type="button" onClick={() => setWish({ ...wish, text: '' })}>
            {t('clearSearch')}
          </button>
        </Empty>
      )}
      {rows.length > 0 && (
        <VirtualList
          label={t('things')}
          count={rows.length}
          rowHeight={isNarrow.value ? NARROW_ROW_PX : ROW_PX}
          keyOf={(index) => keyOf(rows[index])}
        >
          {(index) => <Row row={rows[index]} channel={channel} />}
        </VirtualList>
      )}
    </div>
  )
}

const keyOf = (row: BoardRow | undefined): string =>
  row === undefined ? '' : row.kind === 'thing' ? row.id : `group ${row.name}`

/**
 * The rows in their order. They are sought anew when a Thing comes or goes and, where values
 * decide, once a second: not for each update.
 */
function useRows(channel: LiveChannel, { text, order, isGrouped }: Wish) {
  const query = useMemo(() => queryOf(text), [text])
  const isByValue = order !== 'name' || query.attrs.length > 0 || query.isSilent
  const beat = isByValue ? second.value : 0
  const minute = Math.floor(second.value / 10_000)
  const known = useRef<readonly string[]>([])
  const ids = useMemo(() => {
    known.current = inNameOrder(known.current, channel.things)
    return known.current
  }, [channel, channel.members.value])
  return useMemo(() => {
    const silentSince = second.peek() - silentAfterMs.value
    const things: ThingView[] = []
    let silent = 0
    let attr = ''
    for (const id of ids) {
      const thing = channel.things.get(id)
      if (thing === undefined) continue
      if (thing.state === 'active' && observedAt(thing) < silentSince) silent += 1
      if (!isFound(thing, query, silentSince)) continue
      if (attr === '') attr = query.attrs[0]?.name ?? firstNumber(thing.attrs) ?? ''
      things.push(thing)
    }
    const rows = rowsOf(inOrder(things, order, attr), isGrouped)
    return { rows, silent, found: things.length }
  }, [channel, ids, query, order, isGrouped, beat, minute, silentAfterMs.value])
}

interface WishesProps {
  readonly wish: Wish
  readonly onWish: (wish: Wish) => void
}

const Wishes = ({ wish, onWish }: WishesProps) => (
  <div class="wishes" role="search">
    <Field
      label={t('search')}
      value={wish.text}
      onValue={(text) => onWish({ ...wish, text })}
      input={{ type: 'search', placeholder: t('boardSearchHint') }}
    />
    <Choice
      label={t('order')}
      value={wish.order}
      options={[
        ['name', t('orderName')],
        ['changed', t('orderChanged')],
        ['value', t('orderByValue')],
      ]}
      onValue={(order) => onWish({ ...wish, order })}
    />
    <Choice
      label={t('silentAfter')}
      value={String(silentAfterMs.value)}
      options={SILENCES.map((ms) => [String(ms), spanOf(ms)] as const)}
      onValue={(ms) => {
        silentAfterMs.value = Number(ms)
      }}
    />
    <label class="check">
      <input
        type="checkbox"
        checked={wish.isGrouped}
        onChange={(event) => onWish({ ...wish, isGrouped: event.currentTarget.checked })}
      />
      {t('grouped')}
    </label>
  </div>
)

function spanOf(ms: number): string {
  if (ms < 3_600_000) return t('minutes', { n: ms / 60_000 })
  return t('hours', { n: ms / 3_600_000 })
}

const VALUES_MAX = 6

interface RowProps {
  readonly row: BoardRow | undefined
  readonly channel: LiveChannel
}

function Row({ row, channel }: RowProps) {
  void channel.thingsDrawn.value
  const seen = row?.kind === 'thing' ? row.id : undefined
  const isCurrent = channel.isCurrent.value
  useEffect(
    () => (seen === undefined ? undefined : wantPast(channel, seen)),
    [channel, seen, isCurrent],
  )
  const thing = seen === undefined ? undefined : channel.things.get(seen)
  const watched = seen === undefined ? undefined : channel.watched(seen)
  // Most frames change other Things: then nothing of this row is drawn.
  const drawn = useMemo(
    () => thing && <ThingRow thing={thing} watched={watched} channelId={channel.id} />,
    [thing, watched, watched?.line.version, channel],
  )
  if (row?.kind === 'group') {
    return <h2 class="group">{t('group', { name: visible(row.name), n: row.count })}</h2>
  }
  return drawn ?? null
}

interface ThingRowProps {
  readonly thing: ThingView
  readonly watched: Watched | undefined
  readonly channelId: string
}

function ThingRow({ thing, watched, channelId }: ThingRowProps) {
  const { id, attrs, state } = thing
  const at = observedAt(thing)
  const since = second.value - at
  const mark =
    state === 'archived' ? 'archived' : since > silentAfterMs.value ? 'silent' : undefined
  const title = titleOf(thing)
  const names = Object.keys(attrs)
  return (
    <a class={`row ${mark ?? 'active'}`} href={hashOf({ view: 'thing', channelId, id })}>
      <span class="who">
        <strong>
          <bdi>{visible(title)}</bdi>
        </strong>
        <span class="note">
          {mark !== undefined && <span class="mark">{t(mark)}</span>}
          {title !== id && <code>{id}</code>}
        </span>
      </span>
      <span class="values">
        {names.slice(0, VALUES_MAX).map((name) => (
          <Value
            key={name}
            name={name}
            value={attrs[name]}
            setAt={watched?.setAt.get(name)}
            rowAt={at}
          />
        ))}
        {names.length > VALUES_MAX && <span class="of">+{names.length - VALUES_MAX}</span>}
      </span>
      {watched !== undefined && watched.attr !== '' ? (
        <Line attr={watched.attr} readings={watched.line} version={watched.line.version} />
      ) : (
        <span class="line" />
      )}
      <time class="age" dateTime={new Date(at).toISOString()}>
        {age(since)}
      </time>
    </a>
  )
}

function NoThings({ channel }: { readonly channel: LiveChannel }) {
  if (!channel.isCurrent.value) return <p class="lead">{t('loading')}</p>
  const attrs = { temperature: 61.5, burning: true }
  return (
    <Empty title={t('noThings')} text={t('noThingsText')}>
      <Command
        text={commandFor(channel.id, 'thing', { ...BLANK_DRAFT, thingId: 'boiler-1', attrs })}
      />
    </Empty>
  )
}

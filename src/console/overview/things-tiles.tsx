// Things as tiles, as many in a row as there is room for.

import { useEffect, useMemo } from 'preact/hooks'

import { second } from '#console/state/clock.ts'
import { facesOf, shownAs } from '#console/model/faces.ts'
import { asked, hashOf } from '#console/state/route.ts'
import { language } from '#console/state/saved.ts'
import { observedAt, titleOf } from '#console/search/search.ts'
import { visible } from '#console/state/text.ts'
import { age, t } from '#console/words/words.ts'
import { VirtualList } from '#console/parts/virtual-list.tsx'
import { eventTitle } from '#console/people/events.ts'
import type { Opened } from './open-events.ts'
import type { Group, Item } from './rows.ts'
import { markOf } from './things-table.tsx'

const TILE_PX = 190
const ROW_PX = 116
/** Of a display on the wall. */
const WALL_TILE_PX = 280
const WALL_ROW_PX = 158
const VALUES_MAX = 2

interface TilesProps {
  readonly groups: readonly Group[]
  readonly opened: Opened
}

interface TileRow {
  readonly key: string
  readonly name: string
  readonly items: readonly Item[]
}

/** The tiles of each group, so many in a row; the first row of a group has its name. */
function tileRows(groups: readonly Group[], perRow: number): readonly TileRow[] {
  return groups.flatMap(({ name, items }) =>
    Array.from({ length: Math.ceil(items.length / perRow) }, (_, row) => ({
      key: `${name} ${row}`,
      name: row === 0 && name !== '' ? t('group', { name: visible(name), n: items.length }) : '',
      items: items.slice(row * perRow, (row + 1) * perRow),
    })),
  )
}

export function ThingsTiles({ groups, opened }: TilesProps) {
  const width = document.querySelector('main')?.clientWidth ?? innerWidth
  const isWall = asked.value['wall'] !== undefined
  const perRow = Math.max(1, Math.floor((width - 32) / (isWall ? WALL_TILE_PX : TILE_PX)))
  const rows = useMemo(() => tileRows(groups, perRow), [groups, perRow])
  return (
    <VirtualList
      label={t('things')}
      count={rows.length}
      rowHeight={isWall ? WALL_ROW_PX : ROW_PX}
      keyOf={(index) => rows[index]?.key ?? ''}
    >
      {(index) => {
        const row = rows[index]
        return (
          row && (
            <div class="tile-row" style={{ '--tiles': String(perRow) }}>
              <h2>{row.name}</h2>
              {row.items.map((item) => (
                <Tile key={`${item.channel.id} ${item.thing.id}`} item={item} opened={opened} />
              ))}
            </div>
          )
        )
      }}
    </VirtualList>
  )
}

interface TileProps {
  readonly item: Item
  readonly opened: Opened
}

function Tile({ item: { channel, thing: before }, opened }: TileProps) {
  void channel.thingsDrawn.value
  useEffect(() => void channel.look(before.id), [channel, before.id])
  const thing = channel.things.get(before.id) ?? before
  const events = opened.of(channel, thing.id)
  const trouble = markOf(channel, events, opened)
  const [worst] = events
  return useMemo(() => {
    const values = facesOf(channel.presentation.peek(), thing).slice(0, VALUES_MAX)
    return (
      <a
        class={`tile ${trouble ?? 'well'}`}
        href={hashOf({ view: 'thing', channelId: channel.id, id: thing.id })}
      >
        <strong>
          <bdi>{visible(titleOf(thing))}</bdi>
        </strong>
        <span class="tile-values">
          {values.map(([name, face]) => {
            const { text, unit } = shownAs(face, name, thing.attrs[name], language.value)
            return (
              <span key={name}>
                <span class="unseen">{visible(face.label ?? name)} </span>
                <bdi>{visible(text)}</bdi>
                {unit !== '' && <span class="unit"> {unit}</span>}
              </span>
            )
          })}
        </span>
        <span class="of">
          {trouble !== undefined && <span class="mark">{t(trouble)}</span>}{' '}
          {worst === undefined ? (
            <Age at={observedAt(thing)} />
          ) : (
            <bdi>{visible(eventTitle(worst))}</bdi>
          )}
        </span>
      </a>
    )
  }, [thing, events, channel, channel.presentation.value])
}

const Age = ({ at }: { readonly at: number }) => <>{age(second.value - at)}</>

// Things with a place, on a plain map: no picture of the world is asked for, because that would
// tell another site where they are.

import { useMemo } from 'preact/hooks'

import { hashOf } from '#console/state/route.ts'
import { titleOf } from '#console/search/search.ts'
import { visible } from '#console/state/text.ts'
import { t } from '#console/words/words.ts'
import { Empty } from '#console/parts/form.tsx'
import type { Opened } from './open-events.ts'
import { mapOf, placeOf } from './places.ts'
import type { Group, Item } from './rows.ts'
import { markOf } from './things-table.tsx'

/** Points beyond which the others are counted alone. */
const POINTS_MAX = 2_000
/** Points beyond which only those in trouble have their names beside them. */
const NAMED_MAX = 25

interface MapProps {
  readonly groups: readonly Group[]
  readonly opened: Opened
}

export function ThingsMap({ groups, opened }: MapProps) {
  const items = useMemo(() => groups.flatMap((group) => group.items), [groups])
  for (const { channel } of items.slice(0, 1)) void channel.thingsDrawn.value
  const placed = items.flatMap((item): (readonly [Item, readonly [number, number]])[] => {
    const place = placeOf(item.channel.things.get(item.thing.id) ?? item.thing)
    return place === undefined ? [] : [[item, place]]
  })
  if (placed.length === 0) return <Empty title={t('noPlaces')} text={t('noPlacesText')} />
  const { width, height, at, bar } = mapOf(placed.map(([, place]) => place))
  return (
    <div class="map">
      <svg viewBox={`0 0 ${width} ${height}`} role="group" aria-label={t('asMap')}>
        <path class="scale" d={`M20 ${height - 16}h${bar.length}`} />
        <text class="scale" x="20" y={height - 24}>
          {bar.text}
        </text>
        {placed.slice(0, POINTS_MAX).map(([{ channel, thing }, place]) => {
          const [x, y] = at(place)
          const trouble = markOf(channel, opened.of(channel, thing.id), opened)
          const name = visible(titleOf(thing))
          return (
            <a
              key={`${channel.id} ${thing.id}`}
              class={`point ${trouble ?? 'well'}`}
              href={hashOf({ view: 'thing', channelId: channel.id, id: thing.id })}
              aria-label={trouble === undefined ? name : `${name}: ${t(trouble)}`}
            >
              <circle cx={x} cy={y} r={trouble === undefined ? 6 : 9} />
              {(placed.length <= NAMED_MAX || trouble !== undefined) && (
                <text x={x + 10} y={y + 4}>
                  {name}
                </text>
              )}
            </a>
          )
        })}
      </svg>
      {items.length > placed.length && (
        <p class="hint">{t('withoutPlace', { n: items.length - placed.length })}</p>
      )}
    </div>
  )
}

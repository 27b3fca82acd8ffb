// What a person asks of the Things of an overview: a search, an order, groups and a shape.

import type { Known } from '#src/client/query/completions'
import type { Json } from '#domain/submission'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { ask, asked } from '#console/state/route.ts'
import type { Grouping, Order } from '#console/search/search.ts'
import { forgetSearch, keepSearch, searchesOf } from '#console/search/saved-searches.ts'
import { plain, visible } from '#console/state/text.ts'
import { mistakeText, sentenceOf, t } from '#console/words/words.ts'
import { Choice } from '#console/parts/form.tsx'
import { QueryField } from '#console/search/query-field.tsx'
import type { Rows, Wish } from './rows.ts'

const SHAPES = ['table', 'tiles', 'map'] as const
export type Shape = (typeof SHAPES)[number]
const SHAPE_WORDS = { table: 'asTable', tiles: 'asTiles', map: 'asMap' } as const

const chosen = <Choices extends string>(
  choices: readonly Choices[],
  name: string,
  otherwise: Choices,
): Choices => choices.find((choice) => choice === asked.value[name]) ?? otherwise

/** What the address asks of the Things. */
export function wished(): Wish & { readonly shape: Shape } {
  const isWall = asked.value['wall'] !== undefined
  return {
    text: asked.value['search'] ?? '',
    trouble: asked.value['open'] ?? '',
    order: chosen<Order>(['name', 'changed', 'value'], 'order', 'name'),
    grouping: chosen<Grouping>(['none', 'prefix', 'tag', 'channel'], 'group', 'prefix'),
    shape: chosen(SHAPES, 'as', isWall ? 'tiles' : 'table'),
  }
}

/** Things that are looked at for completions, spread over all of them. */
const SAMPLE = 300
const VALUES_MAX = 20

/** What some of the Things have: names of attrs, tags, and values that are no numbers. */
function knownOf(channels: readonly LiveChannel[]): Known {
  const things = channels.flatMap((channel) => [...channel.things.values()])
  const step = Math.max(1, Math.floor(things.length / SAMPLE))
  const seen = things.filter((_, at) => at % step === 0)
  const valuesOf = (attr: string) => {
    const values = new Set<Json>()
    for (const { attrs } of seen) {
      const value = attrs[attr]
      if (typeof value === 'string' || typeof value === 'boolean') values.add(value)
      if (values.size === VALUES_MAX) break
    }
    return [...values] as readonly (string | boolean)[]
  }
  return {
    attrs: [...new Set(seen.flatMap(({ attrs }) => Object.keys(attrs)))].sort(),
    tags: [
      ...new Set(seen.flatMap(({ fields: { tags } }) => [tags ?? []].flat().map(plain))),
    ].sort(),
    values: valuesOf,
  }
}

interface WishesProps {
  readonly wish: ReturnType<typeof wished>
  readonly rows: Rows
  readonly channels: readonly LiveChannel[]
}

export function Wishes({ wish, rows, channels }: WishesProps) {
  const { mistake, failure } = rows
  const [only] = channels
  const place = channels.length === 1 && only !== undefined ? only.id : ''
  const wrong = mistake === undefined ? undefined : mistakeText(mistake, wish.text)
  const groupings: readonly (readonly [Grouping, string])[] = [
    ['prefix', t('byPrefix')],
    ['tag', t('byTag')],
    ...(channels.length > 1 ? [['channel', t('byChannel')] as const] : []),
    ['none', t('byNothing')],
  ]
  return (
    <div class="wishes" role="search">
      <QueryField
        label={t('search')}
        placeholder={t('overviewSearchHint')}
        value={wish.text}
        onValue={(search) => ask({ search })}
        problem={wrong ?? (failure === undefined ? undefined : sentenceOf(failure))}
        known={() => knownOf(channels)}
      />
      <Choice
        label={t('order')}
        value={wish.order}
        options={[
          ['name', t('orderName')],
          ['changed', t('orderChanged')],
          ['value', t('orderByValue')],
        ]}
        onValue={(order) => ask({ order: order === 'name' ? '' : order })}
      />
      <Choice
        label={t('groupedBy')}
        value={wish.grouping}
        options={groupings}
        onValue={(group) => ask({ group: group === 'prefix' ? '' : group })}
      />
      <Choice
        label={t('shownAs')}
        value={wish.shape}
        options={SHAPES.map((shape) => [shape, t(SHAPE_WORDS[shape])] as const)}
        onValue={(shape) => ask({ as: shape === 'table' ? '' : shape })}
      />
      <p class="sum" role="status">
        {countText(rows)}
      </p>
      <Searches place={place} text={mistake === undefined ? wish.text.trim() : ''} />
    </div>
  )
}

function countText({ found, all, extent }: Rows): string {
  if (extent === 'none') return t('loading')
  if (found === all) return t('countThings', { n: all })
  return t(extent === 'part' ? 'countAtLeast' : 'countOf', { n: found, all })
}

interface SearchesProps {
  /** The id of the channel, or '' for all of them. */
  readonly place: string
  /** The search that is shown. */
  readonly text: string
}

/** The searches that this browser keeps, each with one press. */
function Searches({ place, text }: SearchesProps) {
  const kept = searchesOf(place)
  const isNew = text !== '' && !kept.includes(text)
  if (kept.length === 0 && !isNew) return null
  return (
    <ul class="searches" aria-label={t('savedSearches')}>
      {kept.map((each) => (
        <li key={each} class="joined">
          <button
            type="button"
            class="quiet"
            aria-pressed={each === text}
            onClick={() => ask({ search: each === text ? '' : each })}
          >
            <bdi>{visible(each)}</bdi>
          </button>
          <button
            type="button"
            class="quiet"
            aria-label={t('forgetSearch', { text: visible(each) })}
            onClick={() => forgetSearch(place, each)}
          >
            ✕
          </button>
        </li>
      ))}
      {isNew && (
        <li>
          <button type="button" class="quiet" onClick={() => keepSearch(place, text)}>
            {t('saveSearch')}
          </button>
        </li>
      )}
    </ul>
  )
}

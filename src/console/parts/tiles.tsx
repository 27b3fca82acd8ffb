// The present values of a Thing, large: each with its range and its change over the last day.

import { isRecord } from '#domain/record'
import type { Json } from '#domain/submission'
import type { ThingView } from '#src/client/view'
import { setAt } from '#console/state/attr-times.ts'
import { second } from '#console/state/clock.ts'
import { facesOf } from '#console/model/faces.ts'
import type { Face } from '#console/model/faces.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { attrTexts } from '#console/state/past/attr-texts.ts'
import { observedAt } from '#console/search/search.ts'
import { cut, plain } from '#console/state/text.ts'
import { rangeOf } from '#console/state/past/thing-history.ts'
import type { Course } from '#console/state/past/thing-history.ts'
import { age, t } from '#console/words/words.ts'
import { Said } from './text.tsx'

interface TilesProps {
  readonly channel: LiveChannel
  readonly thing: ThingView
  /** The course of a number over the last day. */
  readonly dayOf: (attr: string) => Course
}

/** A value that is so much older than the Thing's newest tells its own age. */
const LAG_MS = 60_000
const SHOWN_MAX = 120
/** A text that is longer is written smaller. */
const SHORT = 9
const MEMBERS_MAX = 20

export const Tiles = ({ channel, thing, dayOf }: TilesProps) => (
  <div class="large tiles">
    {facesOf(channel.presentation.value, thing).map(([name, face]) => (
      <Tile key={name} {...{ channel, thing, name, face }} day={dayOf(name)} />
    ))}
  </div>
)

interface TileProps {
  readonly channel: LiveChannel
  readonly thing: ThingView
  readonly name: string
  readonly face: Face
  readonly day: Course
}

interface GaugeProps {
  readonly face: Face
  readonly value: Json | undefined
  readonly label: string
}

function Tile({ channel, thing, name, face, day }: TileProps) {
  const texts = attrTexts(channel, thing, name)
  const value = thing.attrs[name]
  const at = setAt(thing, name)
  const isLagging = observedAt(thing) - at > LAG_MS
  const { text, unit } = texts.shown(value)
  return (
    <div class="tile">
      <span class="of">{texts.label}</span>
      {isRecord(value) ? (
        <Members members={value} />
      ) : (
        <span class={text.length > SHORT ? 'amount long' : 'amount'}>
          <Said text={cut(text, SHOWN_MAX) || '""'} />
          {unit !== '' && <span class="unit"> {unit}</span>}
        </span>
      )}
      <Gauge face={face} value={value} label={texts.label} />
      <DayOf day={day} text={texts.text} />
      {isLagging && <span class="of">{age(second.value - at)}</span>}
    </div>
  )
}

/** Where a number stands in the range of its attr; nothing where that has none. */
function Gauge({ face: { min, max }, value, label }: GaugeProps) {
  if (typeof value !== 'number' || min === undefined || max === undefined) return null
  return <meter min={min} max={max} value={value} aria-label={label} />
}

function DayOf({ day, text }: { readonly day: Course; readonly text: (value: number) => string }) {
  const range = rangeOf(day)
  if (range === undefined) return null
  const { low, high, change } = range
  const sign = change > 0 ? '▲' : change < 0 ? '▼' : '='
  return (
    <span class="of">
      <span title={t('changed24h', { change: text(change) })}>
        {sign} {text(Math.abs(change))}
      </span>{' '}
      · {t('range24h', { low: text(low), high: text(high) })}
    </span>
  )
}

/** The members of an object, a row each. */
const Members = ({ members }: { readonly members: Readonly<Record<string, Json>> }) => (
  <dl class="facts">
    {Object.entries(members)
      .slice(0, MEMBERS_MAX)
      .map(([name, value]) => (
        <>
          <dt>
            <Said text={name} />
          </dt>
          <dd>
            <Said text={plain(value).slice(0, SHOWN_MAX)} />
          </dd>
        </>
      ))}
  </dl>
)

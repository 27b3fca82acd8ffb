// The values of a Thing over time: lines for numbers, strips for states, a drawing for places.

import { useMemo, useState } from 'preact/hooks'

import type { ThingView } from '#src/client/view'
import { ask, asked } from '#console/state/route.ts'
import { facesOf } from '#console/model/faces.ts'
import { attrTexts } from '#console/state/past/attr-texts.ts'
import { readNewestFeed } from '#console/state/history.ts'
import { limitsOf } from '#console/state/past/limits.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { useCourses } from '#console/state/past/live-courses.ts'
import type { Courses as Read } from '#console/state/past/live-courses.ts'
import type { RuleJson } from '#console/state/rule-form.ts'
import { overlaysIn, queryForOverlays } from '#console/state/past/overlays.ts'
import type { Overlay } from '#console/state/past/overlays.ts'
import { drawnSpan, span } from '#console/state/past/pointed.ts'
import { language } from '#console/state/saved.ts'
import { titleOf } from '#console/search/search.ts'
import { runsOf } from '#console/state/past/thing-history.ts'
import { placeIn, placesIn } from '#console/state/past/track.ts'
import type { Place } from '#console/state/past/track.ts'
import { t } from '#console/words/words.ts'
import { Chart } from '#console/charts/chart.tsx'
import { Choice } from '#console/parts/form.tsx'
import { Failure, useFound } from '#console/parts/page.tsx'
import type { Shade } from '#console/charts/plot.tsx'
import { Changes, Strip, statesOf } from '#console/charts/strip.tsx'
import { TimeBar } from '#console/charts/time-bar.tsx'
import { Track } from '#console/charts/track.tsx'
import { Limits, chartLine, chartText } from '#console/charts/value-chart.tsx'

interface CoursesProps {
  readonly channel: LiveChannel
  readonly thing: ThingView
  /** Those that watch the Thing. */
  readonly rules: readonly RuleJson[]
  readonly shades: readonly Shade[]
}

/** The gateway reads no more at once. */
const ATTRS_MAX = 64

const isState = (value: unknown): boolean => typeof value === 'boolean' || typeof value === 'string'

/** The courses of a Thing's values over the span of the time bar. */
export function Courses({ channel, thing, rules, shades }: CoursesProps) {
  const { id, attrs } = thing
  const overlays = useMemo(() => overlaysIn(asked.value), [asked.value])
  const names = facesOf(channel.presentation.value, thing).map(([name]) => name)
  const numbers = names.filter((name) => typeof attrs[name] === 'number').slice(0, ATTRS_MAX)
  const states = names.filter((name) => isState(attrs[name])).slice(0, ATTRS_MAX)
  const others = [...Map.groupBy(overlays, ({ thingId }) => thingId)]
    .filter(([thingId]) => thingId !== id)
    .map(([thingId, listed]) => ({ thingId, attrs: listed.map(({ other }) => other) }))
  const lines = useCourses(channel, [{ thingId: id, attrs: numbers }, ...others], span.value)
  const strips = useCourses(channel, [{ thingId: id, attrs: states, step: 'raw' }], span.value)
  const { fromMs, toMs } = drawnSpan(span.value)
  const failure = lines.failure ?? strips.failure
  const drawn = useMemo(
    () => (
      <>
        {numbers.map((attr) => (
          <NumberChart
            key={attr}
            {...{ channel, thing, attr, rules, shades, fromMs, toMs }}
            courses={lines}
            overlays={overlays.filter((overlay) => overlay.attr === attr)}
          />
        ))}
        {states.map((attr) => (
          <StateStrip key={attr} {...{ channel, thing, attr, fromMs, toMs }} courses={strips} />
        ))}
      </>
    ),
    [lines.version, strips.version, fromMs, toMs, overlays, rules, shades, names.join('\n')],
  )
  return (
    <section aria-label={t('attrs')}>
      <TimeBar />
      <Failure error={failure} />
      {!lines.isWhole && <p class="hint">{t('notWhole')}</p>}
      {!strips.isWhole && <p class="hint">{t('statesNotWhole')}</p>}
      <div class="charts wide">
        {drawn}
        <Way channel={channel} thing={thing} />
      </div>
    </section>
  )
}

interface ChartProps extends CoursesProps {
  readonly attr: string
  readonly courses: Read
  readonly overlays: readonly Overlay[]
  readonly fromMs: number
  readonly toMs: number
}

/** The chart of a number, with the lines that are laid over it. */
function NumberChart(props: ChartProps) {
  const { channel, thing, attr, courses, overlays, rules, shades, fromMs, toMs } = props
  const shown = [{ attr, thingId: thing.id, other: attr }, ...overlays]
  const lines = useMemo(
    () =>
      shown.map(({ thingId, other }) => {
        const about = channel.things.get(thingId) ?? { id: thingId, fields: {} }
        const texts = attrTexts(channel, about, other)
        const name = thingId === thing.id ? texts.label : `${titleOf(about)} · ${texts.label}`
        return chartLine(name, texts, courses.of(thingId, other), toMs)
      }),
    [courses.version, overlays, language.value, toMs],
  )
  const limits = useMemo(() => limitsOf(rules, attr), [rules, attr])
  const texts = attrTexts(channel, thing, attr)
  const isEmpty = lines.every(({ line }) => line.times.length === 0)
  return (
    <figure class="chart">
      <Chart
        label={chartText(texts.label, texts, courses.of(thing.id, attr))}
        {...{ lines, limits, shades, fromMs, toMs }}
      >
        <Limits limits={limits} text={texts.text} />
        {overlays.map((overlay, at) => (
          <button
            type="button"
            class="quiet"
            key={at}
            aria-label={t('overlayRemove', { name: lines[at + 1]?.name ?? '' })}
            onClick={() => keepOverlays((kept) => kept.filter((each) => !isSame(each, overlay)))}
          >
            ✕ {at + 2}
          </button>
        ))}
        <Compare channel={channel} thing={thing} attr={attr} shown={shown} />
      </Chart>
      {isEmpty && courses.isRead && <p class="hint">{t('noHistory')}</p>}
    </figure>
  )
}

const isSame = (a: Overlay, b: Overlay): boolean =>
  a.attr === b.attr && a.thingId === b.thingId && a.other === b.other

const keepOverlays = (change: (kept: readonly Overlay[]) => readonly Overlay[]): void =>
  ask({ with: queryForOverlays(change(overlaysIn(asked.peek()))) })

/** A chart has so many lines, and a list of others so many entries. */
const LINES_MAX = 6
const OTHERS_MAX = 200

interface CompareProps {
  readonly channel: LiveChannel
  readonly thing: ThingView
  readonly attr: string
  readonly shown: readonly Overlay[]
}

/** What may be laid over a chart: other numbers of the Thing, the same number of other Things. */
function Compare({ channel, thing, attr, shown }: CompareProps) {
  const [isOpen, setOpen] = useState(false)
  if (shown.length >= LINES_MAX) return null
  if (!isOpen) {
    return (
      <button
        type="button"
        class="quiet"
        aria-label={t('overlayOf', { attr })}
        onClick={() => setOpen(true)}
      >
        + {t('overlay')}
      </button>
    )
  }
  const own = Object.entries(thing.attrs)
    .filter(([, value]) => typeof value === 'number')
    .map(
      ([other]) =>
        [{ attr, thingId: thing.id, other }, attrTexts(channel, thing, other).label] as const,
    )
  const things = [...channel.things.values()].filter(
    ({ id, attrs }) => id !== thing.id && typeof attrs[attr] === 'number',
  )
  const others = things
    .slice(0, OTHERS_MAX)
    .map((each) => [{ attr, thingId: each.id, other: attr }, titleOf(each)] as const)
  const found = [...own, ...others].filter(([each]) => !shown.some((other) => isSame(each, other)))
  return (
    <Choice
      label={t('overlayOf', { attr })}
      isQuiet
      value=""
      options={[['', '…'] as const, ...found.map(([, name], at) => [String(at), name] as const)]}
      onValue={(at) => {
        setOpen(false)
        const [chosen] = at === '' ? [] : (found[Number(at)] ?? [])
        if (chosen !== undefined) keepOverlays((kept) => [...kept, chosen])
      }}
    />
  )
}

const STATES_MAX = 8

type StripProps = Pick<ChartProps, 'channel' | 'thing' | 'attr' | 'courses' | 'fromMs' | 'toMs'>

function StateStrip({ channel, thing, attr, courses, fromMs, toMs }: StripProps) {
  const course = courses.of(thing.id, attr)
  const runs = useMemo(() => runsOf(course, toMs), [course, toMs])
  const texts = attrTexts(channel, thing, attr)
  if (runs.length === 0) return null
  const isMany = statesOf(runs).size > STATES_MAX
  return (
    <figure class={isMany ? 'chart' : 'chart low'}>
      {isMany ? (
        <Changes name={texts.label} runs={runs} />
      ) : (
        <Strip name={texts.label} text={texts.text} {...{ runs, fromMs, toMs }} />
      )}
    </figure>
  )
}

/** Places that a drawing needs to show a way. */
const PLACES_WANTED = 500

/** The way of a Thing that says where on Earth it is. */
function Way({ channel, thing }: Pick<CoursesProps, 'channel' | 'thing'>) {
  const { location_type: type, location_value: value } = thing.fields
  const isGeo = type === 'geo'
  const { lengthMs } = span.value
  const read = async (signal: AbortSignal): Promise<readonly Place[]> => {
    const about = { model: 'thing', entityId: thing.id, signal } as const
    const wanted = { ...about, spanMs: lengthMs, wanted: PLACES_WANTED }
    return placesIn((await readNewestFeed(channel.id, wanted)).items)
  }
  // The present place is that of the Thing.
  const inputs = [channel, thing.id, isGeo, lengthMs, value]
  const { found: past = [] } = useFound((ended) => (isGeo ? read(ended) : undefined), inputs)
  const { fromMs, toMs } = drawnSpan(span.value)
  const now = isGeo ? placeIn(value, toMs) : undefined
  const places = past.filter(({ time }) => time >= fromMs && time <= toMs)
  const shown = places.length === 0 && now !== undefined ? [now] : places
  if (!isGeo || shown.length === 0) return null
  return (
    <figure class="chart">
      <Track places={shown} />
    </figure>
  )
}

// The values of a Thing over time: a line for numbers, steps for false and true, and for everything
// else a list of changes.

import { useEffect, useMemo, useState } from 'preact/hooks'

import type { ThingView } from '#src/client/view'
import { nowMs, second } from '#console/state/clock.ts'
import { readFeed } from '#console/state/history.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { language } from '#console/state/saved.ts'
import { changesOf, coursesOf, kindOf, pointsOf } from '#console/state/thing-history.ts'
import type { Course } from '#console/state/thing-history.ts'
import { plain, visible } from '#console/state/text.ts'
import { shown } from '#console/state/units.ts'
import { moment, sentenceOf, t } from '#console/words/words.ts'
import { Chart } from '#console/parts/chart.tsx'
import { Choice } from '#console/parts/form.tsx'
import { LongText } from '#console/parts/text.tsx'

const SPANS = { hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000 } as const
type Span = keyof typeof SPANS
const READ_AGAIN_MS = 10_000

interface CoursesProps {
  readonly channel: LiveChannel
  readonly thing: ThingView
}

/** The courses of a Thing's values, read anew every few seconds while it changes. */
export function Courses({ channel, thing }: CoursesProps) {
  const [span, setSpan] = useState<Span>('hour')
  const [read, setRead] = useState<Awaited<ReturnType<typeof readFeed>>>()
  const [failure, setFailure] = useState<unknown>()
  const beat = Math.floor(second.value / READ_AGAIN_MS)
  const { id } = thing
  useEffect(() => {
    const ended = new AbortController()
    const wanted = { model: 'thing', entityId: id, signal: ended.signal } as const
    readFeed(channel.id, { ...wanted, sinceMs: nowMs() - SPANS[span] }).then(
      setRead,
      (error: unknown) => !ended.signal.aborted && setFailure(error),
    )
    return () => ended.abort()
    // A Thing that stands still is not read again.
  }, [channel, id, span, Math.floor(thing.seq > 0 ? beat : 0)])
  // One value is no course; it stands above.
  const courses = useMemo(
    () => [...coursesOf(read?.items ?? [])].filter(([, course]) => changesOf(course).length > 1),
    [read],
  )
  // All begin together, so that one can be compared with another.
  const fromMs = Math.min(...courses.map(([, { times }]) => times[0] ?? nowMs()))
  return (
    <section>
      <div class="actions">
        <Choice
          label={t('since')}
          value={span}
          options={(['hour', 'day', 'week'] as const).map((name) => [name, t(name)] as const)}
          onValue={setSpan}
        />
        {read?.isWhole === false && <p class="hint">{t('notWhole')}</p>}
        {failure !== undefined && (
          <p class="problem" role="alert">
            {sentenceOf(failure)}
          </p>
        )}
      </div>
      {read !== undefined && courses.length === 0 && <p class="hint">{t('noHistory')}</p>}
      <div class="charts">
        {courses.map(([name, course]) => (
          <figure class="chart" key={name}>
            {kindOf(course) === 'changes' ? (
              <Changes name={name} course={course} />
            ) : (
              <Drawn name={name} course={course} fromMs={fromMs} />
            )}
          </figure>
        ))}
      </div>
    </section>
  )
}

interface CourseProps {
  readonly name: string
  readonly course: Course
}

/** A line, or steps, the last of which holds until the present. */
function Drawn({ name, course, fromMs }: CourseProps & { readonly fromMs: number }) {
  const isSteps = kindOf(course) === 'steps'
  const { times, values } = useMemo(() => {
    const points = pointsOf(course)
    const until = Math.max(nowMs(), course.times.at(-1) ?? 0)
    const last = isSteps ? (points.at(-1) ?? null) : null
    return { times: [fromMs, ...course.times, until], values: [null, ...points, last] }
  }, [course, fromMs])
  const text = (value: number): string => {
    if (isSteps) return String(value === 1)
    const { text: amount, unit } = shown(name, value, language.value)
    return `${amount} ${unit}`.trim()
  }
  const known = values.filter((value) => value !== null)
  const label = t('chartOf', {
    attr: name,
    low: text(Math.min(...known)),
    high: text(Math.max(...known)),
    last: text(known.at(-1) ?? 0),
  })
  return <Chart label={label} name={name} times={times} values={values} isSteps={isSteps} />
}

const SHOWN = 5
const TEXT_MAX = 200

function Changes({ name, course }: CourseProps) {
  const [count, setCount] = useState(SHOWN)
  const changes = changesOf(course)
  return (
    <>
      <figcaption>
        <bdi>{visible(name)}</bdi>
      </figcaption>
      <ol class="updates">
        {changes.slice(0, count).map(({ time, value }) => (
          <li key={time}>
            <time>{moment(time, second.value)}</time>
            <span class="news">
              {value === null ? t('removed') : <LongText text={plain(value)} max={TEXT_MAX} />}
            </span>
          </li>
        ))}
      </ol>
      {changes.length > count && (
        <button type="button" class="quiet" onClick={() => setCount(count * 4)}>
          {t('more')}
        </button>
      )}
    </>
  )
}

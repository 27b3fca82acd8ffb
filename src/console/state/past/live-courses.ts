// The courses that a view draws: read once for a span, and extended by what the session brings.

import { useEffect, useRef, useState } from 'preact/hooks'

import type { ThingView } from '#src/client/view'
import { setAt } from '#console/state/attr-times.ts'
import { afterDelay, nowMs } from '#console/state/clock.ts'
import { LiveCourses, keyOf } from './course-store.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { readSeries } from './series.ts'
import { beginningOf, endOf } from './span.ts'
import type { Span } from './span.ts'
import { NO_COURSE } from './thing-history.ts'
import type { Course } from './thing-history.ts'

/** The attrs of one Thing that are read together. */
export interface CourseWish {
  readonly thingId: string
  readonly attrs: readonly string[]
  readonly step?: 'auto' | 'raw'
}

export interface Courses {
  /** Changes with every course. */
  readonly version: number
  readonly isRead: boolean
  readonly isWhole: boolean
  readonly failure: unknown
  readonly of: (thingId: string, attr: string) => Course
}

/** A span that is moved or zoomed is read when it rests. */
const REST_MS = 200
const NOT_READ: Omit<Courses, 'version' | 'of'> = {
  isRead: false,
  isWhole: true,
  failure: undefined,
}

/** Reads courses, again when the span or the session begins anew, and keeps them up to date. */
export function useCourses(
  channel: LiveChannel,
  wishes: readonly CourseWish[],
  span: Span,
): Courses {
  const store = useRef(new LiveCourses())
  const [state, setState] = useState(NOT_READ)
  const isCurrent = channel.isCurrent.value
  const wanted = JSON.stringify(wishes)
  const isFirst = useRef(true)
  useEffect(() => {
    const ended = new AbortController()
    const cancel = afterDelay(isFirst.current ? 0 : REST_MS, () => {
      isFirst.current = false
      const presentMs = nowMs()
      const range = { fromMs: beginningOf(span, presentMs), toMs: endOf(span, presentMs) }
      const reads = wishes
        .filter(({ attrs }) => attrs.length > 0)
        .map(async ({ thingId, ...wish }) => {
          const read = await readSeries(channel.id, thingId, { ...wish, ...range }, ended.signal)
          store.current.take(thingId, read.courses)
          return read.isWhole
        })
      Promise.all(reads).then(
        (areWhole) =>
          setState({ isRead: true, isWhole: areWhole.every(Boolean), failure: undefined }),
        (failure: unknown) =>
          !ended.signal.aborted && setState({ ...NOT_READ, isRead: true, failure }),
      )
    })
    return () => {
      cancel()
      ended.abort()
    }
  }, [channel, wanted, span.lengthMs, span.toMs, isCurrent])
  void channel.thingsDrawn.value
  if (span.toMs === undefined) {
    for (const { thingId } of wishes) follow(store.current, channel.things.get(thingId), span)
  }
  return {
    ...state,
    version: store.current.version,
    of: (thingId, attr) => store.current.courses.get(keyOf(thingId, attr)) ?? NO_COURSE,
  }
}

function follow(store: LiveCourses, thing: ThingView | undefined, span: Span): void {
  if (thing === undefined) return
  store.follow(thing, (attr) => setAt(thing, attr), nowMs() - span.lengthMs)
}

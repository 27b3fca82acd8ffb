// The forms of `where` that rules do not have.

import { THING_STATES } from '#domain/entity'
import type { Condition, Forms } from '#src/rules/conditions'
import { contains } from '#src/rules/functions'
import { prefixOf } from '#src/rules/read-rule'
import type { Sent } from '#src/rules/reading'
import { OUT_OF_STEPS } from '#src/rules/work'
import { tagsIn, textIn } from './facts.ts'
import type { ThingFacts } from './facts.ts'
import { METRES_MAX, isPlace, metresBetween, placeIn } from './places.ts'
import type { Place } from './places.ts'

type Test = Condition<ThingFacts>['verdict']

const TEXT_MAX = 256
/** Steps of comparing places. */
const PLACE_STEPS = 8

export const THING_FORMS: Forms<ThingFacts> = {
  state: (sent) => {
    const wanted = sent.members(['state']).state.oneOf(THING_STATES)
    return tested(1, ({ state }) => state === wanted)
  },
  tag: (sent) => {
    const wanted = sent.members(['tag']).tag.text(TEXT_MAX)
    return ({ fields, work }) => {
      const tags = tagsIn(fields)
      return work.take(1 + tags.length) ? tags.includes(wanted) : OUT_OF_STEPS
    }
  },
  prefix: (sent) => {
    const wanted = prefixOf(sent.members(['prefix']).prefix)
    return tested(1, ({ id }) => id.startsWith(wanted))
  },
  text: (sent) => {
    const wanted = sent.members(['text']).text.text(TEXT_MAX).toLowerCase()
    return ({ fields, work }) => {
      const texts = [textIn(fields, 'title'), textIn(fields, 'description')]
      const length = texts.reduce((sum, text) => sum + text.length, wanted.length)
      if (!work.takeText(length)) return OUT_OF_STEPS
      return texts.some((text) => contains(text.toLowerCase(), wanted))
    }
  },
  near: nearTest,
}

const tested =
  (steps: number, holds: (facts: ThingFacts) => boolean): Test =>
  (facts) =>
    facts.work.take(steps) ? holds(facts) : OUT_OF_STEPS

function nearTest(sent: Sent): Test {
  const { near, within } = sent.members(['near', 'within'])
  const [latitude = 0, longitude = 0] = near.list(2, 2).map((degrees) => degrees.number())
  const centre: Place = [latitude, longitude]
  if (!isPlace(centre)) near.wrong('must be [latitude, longitude] in degrees')
  const metres = within.number()
  if (metres < 0 || metres > METRES_MAX) within.wrong(`must be 0 to ${METRES_MAX} metres`)
  return ({ fields, work }) => {
    if (!work.take(PLACE_STEPS)) return OUT_OF_STEPS
    const place = placeIn(fields)
    return place === undefined ? 'the Thing has no place' : metresBetween(centre, place) <= metres
  }
}

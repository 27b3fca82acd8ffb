import test from 'ava'
import * as fc from 'fast-check'

import { BATCH_SUBMISSIONS_MAX, appliedIn, placeOf, positionOf } from '#domain/lane'

test('a place holds the last whole entry and how much of the next one is applied', (t) => {
  const position = fc.nat({ max: 2 ** 40 })
  const applied = fc.nat({ max: BATCH_SUBMISSIONS_MAX })
  fc.assert(
    fc.property(position, applied, (whole, part) => {
      const place = placeOf(whole, part)
      t.true(Number.isSafeInteger(place))
      t.is(positionOf(place), whole)
      t.is(appliedIn(place), part)
    }),
    { numRuns: 300 },
  )
})

test('places sort in the order of the log', (t) => {
  const places = [
    placeOf(0, 0),
    placeOf(0, 1),
    placeOf(0, BATCH_SUBMISSIONS_MAX),
    placeOf(1, 0),
    placeOf(1, 1),
    placeOf(2, 0),
  ]
  t.deepEqual(
    places.toSorted((a, b) => a - b),
    places,
  )
  t.is(new Set(places).size, places.length)
})

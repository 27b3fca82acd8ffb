// Goal: the series of an export: their order, what is left out of them, and where another one goes on.
// Method: a store in memory that gives a few buckets at a time.

import test from 'ava'

import type { BucketColumns } from '#domain/history/series'
import { FIVE, away, columnsOf, exportRig } from '#test/support/export-rig'
import type { Line, Taken } from '#test/support/export-rig'

test('series come from the newest times to the oldest, as much as a read gives in a line', async (t) => {
  const lines = await exportRig([], FIVE).all({ what: ['series'] })
  t.deepEqual(lines[0], {
    kind: 'series',
    thing_id: 'a',
    step: '1h',
    from: 16,
    to: 20,
    attrs: { n: columnsOf([16, 17, 18, 19]) },
    after_series: 'a 16',
  })
  t.deepEqual(
    lines.map(({ kind, thing_id, from, after_series }) => [kind, thing_id, from, after_series]),
    [
      ['series', 'a', 16, 'a 16'],
      ['series', 'a', 12, 'a 12'],
      ['series', 'a', 10, 'a 10'],
      ['series', 'c', 16, 'c 16'],
      ['series', 'c', 12, 'c 12'],
      ['series', 'c', 10, 'c 10'],
      ['progress', undefined, undefined, 'c 0'],
      ['series', 'e', 16, 'e 16'],
      ['series', 'e', 12, 'e 12'],
      ['series', 'e', 10, 'e 10'],
      ['progress', undefined, undefined, 'e 0'],
      ['end', undefined, undefined, undefined],
    ],
  )
  t.deepEqual(await exportRig([], FIVE).all({ what: ['series'], series: undefined }), [
    { kind: 'end', complete: true, after_seq: 0 },
  ])
})

test('an export goes on behind any line of series, and has every bucket once', async (t) => {
  const whole = await exportRig([], FIVE).all({ what: ['series'] })
  for (const [at, { after_series }] of whole.slice(0, -1).entries()) {
    const [thingId = '', before] = String(after_series).split(' ')
    const afterSeries = { thingId, before: Number(before) }
    const rest = await exportRig([], FIVE).all({ what: ['series'], afterSeries })
    const isSeries = ({ kind }: Line): boolean => kind === 'series'
    t.deepEqual(rest.filter(isSeries), whole.slice(at + 1).filter(isSeries), String(after_series))
  }
})

const timesOf = (lines: readonly Line[]) =>
  lines.flatMap(({ kind, thing_id, from, to, complete }) =>
    kind === 'series'
      ? [`${String(thing_id)} ${String(from)}-${String(to)}${complete === false ? ' left' : ''}`]
      : [],
  )

/** A read takes so much: the export has these lines, and its end names the place. */
const LEFT: readonly (readonly [taken: Taken, series: readonly string[], place: string])[] = [
  [{ a: [14, 20] }, ['a 16-20', 'a 14-16', 'a 10-14 left', 'c', 'e'], 'a 14'],
  [{ c: [20, 20] }, ['a', 'c 10-20 left', 'e'], 'c 20'],
  [{ c: [10, 17] }, ['a', 'c 17-20 left', 'c 13-17', 'c 10-13', 'e'], 'c 20'],
  [{ c: [10, 10] }, ['a', 'c 10-20 left', 'e'], 'c 20'],
  [{ c: [10, 17, 'part'] }, ['a', 'c 10-20 left', 'e'], 'c 20'],
  [{ a: [18, 20], e: [20, 20] }, ['a 18-20', 'a 10-18 left', 'c', 'e 10-20 left'], 'a 18'],
]

for (const [taken, series, place] of LEFT) {
  test(`export-lines/4: where reads take ${JSON.stringify(taken)}, the rest is given, and the end names ${place}`, async (t) => {
    const expected = series.flatMap((one) =>
      one.includes(' ') ? one : [`${one} 16-20`, `${one} 12-16`, `${one} 10-12`],
    )
    const lines = await exportRig([], FIVE, taken).all({ what: ['things', 'series'], afterSeq: 5 })
    t.deepEqual(timesOf(lines), expected)
    t.deepEqual(lines.at(-1), {
      kind: 'end',
      complete: false,
      after_seq: 5,
      after_thing: 'e',
      after_series: place,
      error_code: 'series_incomplete',
    })
    const [thingId = '', before] = place.split(' ')
    const afterSeries = { thingId, before: Number(before) }
    const later = await exportRig([], FIVE).all({ what: ['series'], afterSeries })
    t.like(later.at(-1), { kind: 'end', complete: true })
    const bucketsIn = (some: readonly Line[]) =>
      some.flatMap(({ kind, thing_id: id, attrs }) => {
        if (kind !== 'series') return []
        const { n } = attrs as { readonly n?: BucketColumns }
        return (n?.times ?? []).map((time) => `${String(id)} ${time}`)
      })
    t.is(new Set([...bucketsIn(lines), ...bucketsIn(later)]).size, 30)
  })
}

test('export-lines/4: an export that is cut behind series that were left out names these', async (t) => {
  const { world, all } = exportRig([], FIVE, { a: [18, 20] })
  world.meanwhile = (page) => {
    if (page === 5) away()
  }
  const lines = await all({ what: ['series'] })
  t.deepEqual(timesOf(lines), ['a 18-20', 'a 10-18 left'])
  t.like(lines.at(-1), { complete: false, error_code: 'server_busy', after_series: 'a 18' })
})

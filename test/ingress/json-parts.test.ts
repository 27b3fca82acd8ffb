// The JSON of long answers is what JSON.stringify gives, in parts.

import test from 'ava'

import { jsonInParts } from '#src/ingress/json-parts'

const column = (items: number): readonly number[] =>
  Array.from({ length: items }, (_, at) => at / 7)

const TEXTS: readonly (readonly [what: string, data: object])[] = [
  ['nothing', {}],
  ['absent members', { a: undefined, b: 1, c: undefined, d: {} }],
  [
    'every type',
    { a: null, b: true, c: 'say "hi"\n', d: [1, 'x', [], {}, null], 'e"f': { g: {} } },
  ],
  [
    'names of prototypes',
    JSON.parse('{"__proto__": [1], "constructor": {"toString": 2}}') as object,
  ],
  ['a column at the limit of a part', { values: column(2_048) }],
  ['one beyond it', { values: column(2_049), more: column(4_096) }],
]

for (const [what, data] of TEXTS) {
  test(`a text of ${what} is that of JSON.stringify`, async (t) => {
    t.is(await jsonInParts(data, () => Promise.resolve()), JSON.stringify(data))
  })
}

test('json-parts/1: a long text is made with a pause behind each part', async (t) => {
  const attrs = Object.fromEntries(
    Array.from({ length: 64 }, (_, at) => [`n${at}`, { times: column(1_024), values: ['x'] }]),
  )
  for (const data of [{ times: column(65_536) }, { attrs }]) {
    let pauses = 0
    const text = await jsonInParts(data, async () => void (pauses += 1))
    t.is(text, JSON.stringify(data))
    t.true(pauses >= text.length / 120_000, `${pauses} pauses in ${text.length} characters`)
  }
})

test('json-parts/2: a column that stands in several places is written once', async (t) => {
  let reads = 0
  const shared = Object.defineProperty([1, 2], 0, { enumerable: true, get: () => (reads += 1) })
  const text = await jsonInParts({ min: shared, a: { max: shared } }, () => Promise.resolve())
  t.is(text, '{"min":[1,2],"a":{"max":[1,2]}}')
})

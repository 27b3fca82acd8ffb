// Goal: what a search asks the gateway about is true, false, or unknown, as the gateway means it.

import test from 'ava'

import type { Where } from '#domain/rules/condition'
import { finderOf } from '#console/search/search.ts'
import { verdictsOf } from '#console/search/verdicts.ts'
import type { ThingView } from '#src/client/view'

const thing = (id: string): ThingView => ({
  id,
  state: 'active',
  rev: 1,
  seq: 1,
  fields: {},
  attrs: { temperature: id === 'cold' ? 3 : 30 },
  attrTimes: {},
  externalIds: {},
})

/** The ids that the gateway finds by the JSON of a condition. */
const FOUND: Readonly<Record<string, readonly string[]>> = {
  '{"silent":"10m"}': ['quiet'],
  '{"not":{"silent":"10m"}}': ['cold', 'warm'],
}

const ROWS: readonly (readonly [text: string, ids: readonly string[]])[] = [
  ['silent:10m', ['quiet']],
  ['-silent:10m', ['cold', 'warm']],
  ['-silent:10m temperature > 20', ['warm']],
  ['silent:10m or temperature < 5', ['cold', 'quiet']],
]

for (const [text, ids] of ROWS) {
  test(`'${text}' finds what the gateway says of it, and nothing of a Thing that it does not name`, async (t) => {
    const finder = finderOf(text)
    if (finder.kind !== 'finder') return t.fail(finder.kind)
    const asked: string[] = []
    const answers = await verdictsOf(finder.asked, (where: Where) => {
      asked.push(JSON.stringify(where))
      return Promise.resolve(FOUND[JSON.stringify(where)] ?? [])
    })
    t.deepEqual(asked, Object.keys(FOUND), 'each term and its opposite, once')
    const found = ['cold', 'warm', 'quiet', 'unknown'].filter((id) =>
      finder.finds(thing(id), answers),
    )
    t.deepEqual(found.toSorted(), ids)
    t.false(finder.finds(thing('quiet')), 'not before the answer')
  })
}

test('an answer that fails is no verdict', async (t) => {
  const failing = verdictsOf([{ silent: '10m' }], () => Promise.reject(new Error('away')))
  await t.throwsAsync(failing, { message: 'away' })
})

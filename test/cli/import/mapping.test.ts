// Goal: a row becomes the Thing update that was meant, or one sentence about its column.

import test from 'ava'

import { UsageError } from '#src/cli/endings'
import { mapped, readAttrs } from '#src/cli/import/mapping'
import type { Mapping } from '#src/cli/import/mapping'
import type { Fields } from '#domain/submission'
import { PLAIN } from './plain-mapping.ts'

const NOW = 1_700_000_000_000

const rows: [fields: Fields, options: Partial<Mapping>, update: object][] = [
  [
    { thing_id: 'b', observed_at: 5, t: 1, on: true },
    {},
    { thing_id: 'b', observed_at: 5, attrs: { t: 1, on: true } },
  ],
  [{ thing_id: 7, t: 1 }, {}, { thing_id: '7', observed_at: NOW, attrs: { t: 1 } }],
  [
    { id: 'b', at: '2023-11-14T00:00:00Z', t: 1, u: 2, name: 'B' },
    { thing: 'id', time: 'at', title: 'name', skip: new Set(['u']) },
    { thing_id: 'b', observed_at: Date.UTC(2023, 10, 14), title: 'B', attrs: { t: 1 } },
  ],
  [
    { device: { id: 'b' }, data: { t: 1, u: 2 } },
    { thing: 'device.id', attrs: readAttrs(['data.t=temperature', 'data.none']) },
    { thing_id: 'b', observed_at: NOW, attrs: { temperature: 1 } },
  ],
  [
    { thing_id: 'b', rev: 3, seq: 9, observed_at: 5, attrs: { t: 1, u: 2 } },
    { skip: new Set(['u']) },
    { thing_id: 'b', observed_at: 5, attrs: { t: 1 } },
  ],
  [{ t: 1 }, { thingId: 'fixed' }, { thing_id: 'fixed', observed_at: NOW, attrs: { t: 1 } }],
]

test('a row becomes an update', (t) => {
  for (const [fields, options, update] of rows) {
    const made = mapped(fields, { ...PLAIN, ...options }, NOW)
    t.true('update' in made, JSON.stringify(made))
    if ('update' in made) t.deepEqual({ ...made.update, attrs: { ...made.update.attrs } }, update)
  }
})

const refused: [fields: Fields, problem: RegExp][] = [
  [{ t: 1 }, /^thing_id: /],
  [{ thing_id: 'not allowed', t: 1 }, /^thing_id: /],
  [{ thing_id: 'x'.repeat(65), t: 1 }, /^thing_id: /],
  [{ thing_id: 'b', observed_at: 'yesterday', t: 1 }, /^observed_at: /],
  [{ thing_id: 'b', observed_at: true, t: 1 }, /^observed_at: /],
  [{ thing_id: 'b', observed_at: 5 }, /no values/],
]

test('a row that stands for no update says which column is wrong', (t) => {
  for (const [fields, problem] of refused) {
    const made = mapped(fields, PLAIN, NOW)
    t.regex('problem' in made ? made.problem : '', problem, JSON.stringify(fields))
  }
  t.throws(() => readAttrs(['=key']), { instanceOf: UsageError })
})

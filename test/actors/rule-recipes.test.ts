// Goal: the recipes of docs/rules.md and docs/people.md do what they say, put as they are written.

import { readFileSync } from 'node:fs'

import test from 'ava'

import type { Json, Submission, Tick } from '#domain/submission'
import { rule, thing } from '#test/support/submissions'
import { newBench } from '#test/support/turn-bench'

const DOCUMENTS = ['rules', 'people'].map((name) =>
  readFileSync(new URL(`../../docs/${name}.md`, import.meta.url).pathname, 'utf8'),
)
const RECIPES = [
  ...DOCUMENTS.join('\n').matchAll(/\n\n([A-Z][^\n]*?)[:,][^`]*```json\n(.*?)```/gs),
].map(([, title = '', text = '']) => ({ title, text }))

const DAY = 86_400
const S = 1_000

/** A reading of a Thing at a second, or a tick. */
type Step = readonly [s: number, id: string, attrs: Readonly<Record<string, Json>>] | number

const litres = (now: number, before: number) => ({
  litres: now,
  litres_before: before,
  minutes_between: 10,
})

interface Play {
  readonly steps: readonly Step[]
  /** What comes of them: action, second, severity, title. */
  readonly said: readonly string[]
}

const PLAYS: Readonly<Record<string, Play>> = {
  'Threshold with hysteresis': {
    steps: [
      [0, 'freezer-1', { temperature: -10 }],
      [0, 'oven', { temperature: 200 }],
      299,
      300,
      [400, 'freezer-1', { temperature: -16 }],
      [500, 'freezer-1', { temperature: -19 }],
      559,
      560,
      700,
    ],
    said: ['create 300 high freezer-1: -10 °C', 'close 560'],
  },
  'Silence that becomes urgent': {
    steps: [[0, 'a', { t: 1 }], 599, 600, 3_599, 3_600, [4_000, 'a', { t: 1 }]],
    said: ['create 600 normal a is silent', 'update 3600 critical', 'close 4000'],
  },
  'A door that stays open': {
    steps: [[0, 'front', { open: true }], 119, 120, [200, 'front', { open: false }]],
    said: ['create 120 normal front has been open since 1970-01-01T00:00:00Z', 'close 200'],
  },
  Battery: {
    steps: [14, 30, 13, 30, 12].map((battery, index) => [
      index < 4 ? index : DAY,
      'a',
      { battery },
    ]),
    said: ['send 0 normal a: battery at 14 %', `send ${DAY} normal a: battery at 12 %`],
  },
  'The rate of a counter': {
    steps: [[0, 'meter-1', litres(900, 600)], 600, [700, 'meter-1', litres(1_000, 900)]],
    said: ['create 600 normal meter-1 runs: 900 l, 600 l before', 'close 700'],
  },
  Levels: {
    steps: [3.1, 3.3, 3.6, 0.7, 2].map((pressure, s) => [s, 'boiler-1', { pressure }]),
    said: [
      'create 0 normal boiler-1: 3.1 bar',
      'update 1 high',
      'update 2 critical',
      'update 3 high',
      'close 4',
    ],
  },
  'On-call pair with escalation': {
    steps: [
      [0, 'freezer-1', { temperature: -10 }],
      599,
      600,
      1_200,
      1_800,
      2_400,
      [2_500, 'freezer-1', { temperature: -16 }],
      9_000,
    ],
    said: [
      'create 0 high freezer-1: -10 °C',
      'remind 0 high freezer-1: -10 °C',
      'remind 0 high freezer-1: -10 °C',
      'escalate 1800 critical freezer-1: -10 °C',
      'remind 1800 critical freezer-1: -10 °C',
      'close 2500',
    ],
  },
}

const itemOf = (step: Step): Submission | Tick => {
  if (typeof step === 'number') return { model: 'tick', acceptedAt: step * S }
  const [s, id, attrs] = step
  const times = { at: s * S, acceptedAt: s * S }
  return thing('update', id, { ...times, attrs, fields: { tags: ['door'] } })
}

test('every recipe is played', (t) => {
  t.deepEqual(
    RECIPES.map(({ title }) => title),
    Object.keys(PLAYS),
  )
})

for (const { title, text } of RECIPES) {
  test(`${title}: fires and clears as its recipe says`, async (t) => {
    const { steps, said } = PLAYS[title] ?? { steps: [], said: [] }
    const bench = await newBench()
    await bench.apply(rule('put', 'r', text, { acceptedAt: 0 }))
    for (const step of steps) await bench.take(bench.turnOf([itemOf(step)]))
    const found = bench.store.feed.flatMap(({ model, action, payload }) => {
      if (model === 'thing') return []
      const { event_time, occurred_at, ...of } = JSON.parse(payload) as Record<string, number>
      const parts = [action, Number(event_time ?? occurred_at) / S, of['severity'], of['title']]
      return parts.filter((part) => part !== undefined).join(' ')
    })
    t.deepEqual(found, said)
  })
}

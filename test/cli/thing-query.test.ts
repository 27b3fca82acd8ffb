// Goal: queries from a shell: what is sent, and what a person reads.
// Method: whole command lines against a recorded fetch.

import test from 'ava'

import { success } from '#test/support/fake-process-context'
import { CHANNEL, PASSWORD, run } from '#test/support/command-line'

const CREDENTIALS = { channel_id: CHANNEL, password: PASSWORD }

const ROWS: readonly (readonly [words: string, body: object])[] = [
  ['', { limit: 50 }],
  ['temperature > 80', { where: { attr: 'temperature', above: 80 }, limit: 50 }],
  ['--order burner.t --descending --limit 5', { order: { by: { attr: ['burner', 't'] }, descending: true }, limit: 5 }],
  ['--descending', { order: { by: 'changed', descending: true }, limit: 50 }],
  ['tag:a --order title --count', { where: { tag: 'a' }, order: { by: 'title' }, count: true, limit: 50 }],
  ['--group-by tag --group-by prefix:4', { group_by: ['tag', { prefix: 4 }], limit: 1 }],
  ['--group-by mode --aggregate mean:t', { group_by: [{ attr: 'mode' }], aggregate: [{ attr: 't', of: 'mean' }], limit: 1 }],
] // oxfmt-ignore
for (const [words, body] of ROWS) {
  test(`thing query ${words} asks for it`, async (t) => {
    const { context, exitCode } = await run(`thing query ${words}`.trim(), {
      answer: () => success({ items: [] }),
    })
    t.is(exitCode, 0, context.shown)
    t.is(new URL(context.requests[0]?.url ?? '').pathname, '/thing/query')
    t.deepEqual(context.requests[0]?.body, { ...CREDENTIALS, ...body })
  })
}

for (const [words, says] of [
  ['colour:red', /keyword|is not known; known are state/],
  ['a tag:', /has a tag behind it \(at character 7 of the query\)/],
  ['--aggregate t', /--aggregate: allowed: min, max, mean, sum/],
] as const) {
  test(`thing query ${words} is refused, and nothing is sent`, async (t) => {
    const { context, exitCode } = await run(`thing query ${words}`)
    t.is(exitCode, 2, context.shown)
    t.regex(context.shown, says)
    t.deepEqual(context.requests, [])
  })
}

test('thing query shows Things with their total, or groups with their numbers', async (t) => {
  const attrs = { t: 1, quoted: '"q"', digits: '42' }
  const thing = { thing_id: 'a', state: 'active', changed_at: 0, title: 'A', attrs }
  const answer = () => success({ items: [thing], total: 7, complete: false })
  const { context } = await run('thing query --count', { answer })
  t.deepEqual(context.printed, [
    'a\tactive\t1970-01-01T00:00:00.000Z\tA\tt=1 quoted="\\"q\\"" digits="42"',
  ])
  t.deepEqual(context.diagnostics, ['7 Things of a part of the channel'])
  const aggregates = [
    { attr: 't', of: 'mean', value: 61 / 3 },
    { attr: 'u', of: 'max' },
  ]
  const groups = [{ key: ['pump', null], count: 3, aggregates }]
  const grouped = () => success({ items: [], groups, complete: true })
  const screen = { columns: 120, rows: 24, hasColor: false }
  const words = 'thing query --group-by tag --aggregate mean:t'
  const shown = await run(words, { answer: grouped, screen })
  t.deepEqual(shown.context.printed, [
    'KEY 1  KEY 2  COUNT  mean:t   max:u',
    'pump   -      3      20.3333  -',
  ])
  const piped = await run(words, { answer: grouped })
  t.deepEqual(piped.context.printed, [`pump\t-\t3\t${61 / 3}\t-`])
})

test('what has no room beside the other columns of a terminal stands below them, and nowhere else', async (t) => {
  const attrs = { temperature: 20.5, humidity: 61, pressure: 1003.4 }
  const things = ['boiler-1', 'pump-with-a-long-name'].map((thing_id, index) => ({
    thing_id,
    state: 'active',
    changed_at: 0,
    title: 'Boiler room, north',
    attrs: index === 0 ? attrs : {},
  }))
  const shownAt = async (columns: number): Promise<readonly string[]> => {
    const answer = () => success({ items: things })
    const screen = { columns, rows: 24, hasColor: false }
    return (await run('thing query', { answer, screen })).context.printed
  }
  t.deepEqual(await shownAt(80), [
    'THING                  STATE   CHANGED                   TITLE',
    '  ATTRS',
    'boiler-1               active  1970-01-01T00:00:00.000Z  Boiler room, north',
    '  temperature=20.5 humidity=61 pressure=1003.4',
    'pump-with-a-long-name  active  1970-01-01T00:00:00.000Z  Boiler room, north',
  ])
  t.deepEqual(await shownAt(40), [
    'THING                  STATE',
    '  CHANGED',
    '  TITLE',
    '  ATTRS',
    'boiler-1               active',
    '  1970-01-01T00:00:00.000Z',
    '  Boiler room, north',
    '  temperature=20.5 humidity=61 pressure…',
    'pump-with-a-long-name  active',
    '  1970-01-01T00:00:00.000Z',
    '  Boiler room, north',
  ])
  t.deepEqual((await shownAt(130)).slice(0, 2), [
    'THING                  STATE   CHANGED                   TITLE               ATTRS',
    'boiler-1               active  1970-01-01T00:00:00.000Z  Boiler room, north  temperature=20.5 humidity=61 pressure=1003.4',
  ])
})

// Goal: rules and scheduled Messages from a shell: what is sent, and what a person reads.
// Method: whole command lines against a recorded fetch.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import test from 'ava'

import { success } from '#test/support/fake-process-context'
import { CHANNEL, PASSWORD, run } from '#test/support/command-line'
import { ruleOf } from '#test/support/rules'

const CREDENTIALS = { channel_id: CHANNEL, password: PASSWORD }
const RULE = ruleOf()
const input = JSON.stringify(RULE)

const ROWS: readonly (readonly [words: string, path: string, body: object])[] = [
  ['rule put hot -', '/rule/put', { rule_id: 'hot', rule: RULE }],
  ['rule get hot', '/rule/get', { rule_id: 'hot' }],
  ['rule delete hot', '/rule/delete', { rule_id: 'hot' }],
  ['send --title t --op-id o --delay 8h', '/message', { title: 't', op_id: 'o', delay: '8h' }],
  [
    'send --title t --op-id o --deliver-at 2026-01-01T00:00:00Z',
    '/message',
    { title: 't', op_id: 'o', deliver_at: Date.UTC(2026, 0, 1) },
  ],
  ['cancel o', '/message/cancel', { op_id: 'o' }],
]
for (const [words, path, body] of ROWS) {
  test(`${words} asks for ${path}`, async (t) => {
    const { context, exitCode } = await run(words, { input })
    t.is(exitCode, 0, context.shown)
    t.is(new URL(context.requests[0]?.url ?? '').pathname, path)
    t.deepEqual(context.requests[0]?.body, { ...CREDENTIALS, ...body })
  })
}

test('rule put reads a file', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'heliograph-rule-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const file = join(folder, 'hot.json')
  await writeFile(file, input)
  const { context, exitCode } = await run(`rule put hot ${file}`)
  t.is(exitCode, 0, context.shown)
  t.like(context.requests[0]?.body, { rule_id: 'hot', rule: RULE })
})

for (const [what, text] of [
  ['that is no JSON', '{'],
  ['that is a list', '[]'],
  ['that is empty', ''],
] as const) {
  test(`a file ${what} is named, and nothing is sent`, async (t) => {
    const { context, exitCode } = await run('rule put hot -', { input: text })
    t.is(exitCode, 2, context.shown)
    t.regex(context.shown, /-: /)
    t.deepEqual(context.requests, [])
  })
}

test('a file that is not there is named', async (t) => {
  const { context, exitCode } = await run('rule put hot no-such-file.json')
  t.is(exitCode, 2)
  t.regex(context.shown, /no-such-file\.json: no such file/)
})

test('rule list shows what each rule watches, and how often it failed', async (t) => {
  const times = { since: 1, created_at: 1, updated_at: 1_700_000_000_000 }
  const answer = () => success({ items: [{ rule_id: 'hot', rule: RULE, ...times, failures: 3 }] })
  const { context } = await run('rule list', { answer })
  t.deepEqual(context.printed, [
    ['hot', '2023-11-14T22:13:20.000Z', '3', '"all"', '{"attr":"t","above":30}'].join('\t'),
  ])
})

test('rule get shows every time as a date', async (t) => {
  const answer = () => success({ rule_id: 'hot', rule: RULE, since: 0, created_at: 0 })
  const { context } = await run('rule get hot', { answer })
  const times = context.printed.join('\n').match(/^(since|created_at) +1970-01-01T00:00:00/gm)
  t.is(times?.length, 2, context.shown)
})

test('rule test shows a table of what would have fired', async (t) => {
  const fired = { thing_id: 'a', title: 'a: 31', severity: 'high', since: 0, fired_at: 60_000 }
  const firings = [{ ...fired, cleared_at: 120_000 }, fired]
  const answer = () => success({ firings, entries: 7, complete: false })
  const words = 'rule test - --from 2023-01-01'
  const { context } = await run(words, { answer, input })
  t.like(context.requests[0]?.body, { rule: RULE, from: Date.UTC(2023, 0, 1) })
  const [since, at, over] = [0, 1, 2].map((minute) => `1970-01-01T00:0${minute}:00.000Z`)
  t.deepEqual(context.printed, [
    ['a', since, at, over, 'high', 'a: 31'].join('\t'),
    ['a', since, at, 'still fires', 'high', 'a: 31'].join('\t'),
  ])
  t.deepEqual(context.diagnostics, ['2 firings in 7 readings; the history has more'])
  const one = () => success({ firings: [fired], entries: 1, complete: true })
  const { context: alone } = await run('rule test -', { answer: one, input })
  t.deepEqual(alone.diagnostics, ['1 firing in 1 reading'])
  const screen = { columns: 120, rows: 24, hasColor: false }
  const shown = await run('rule test -', { answer, input, screen })
  t.regex(shown.context.printed[0] ?? '', /^THING +SINCE +FIRED +CLEARED +SEVERITY +TITLE/)
})

// Goal: `history` asks for the entries that its user means, and shows them for people and programs.
// Method: whole command lines against a recorded fetch.

import test from 'ava'

import { CHANNEL, PASSWORD, run } from '#test/support/command-line'
import { success } from '#test/support/fake-process-context'

const NOW = 1_700_000_000_000

const credentials = { channel_id: CHANNEL, password: PASSWORD }

const entryOf = (seq: number) => ({
  delivery_id: `d-${seq}`,
  channel_id: CHANNEL,
  seq,
  op_id: 'op',
  model: 'thing',
  action: 'update',
  entity_id: 'boiler',
  accepted_at: NOW,
  payload: { attrs: { temperature: seq } },
})

const histories: [words: string, asked: object, printed: readonly string[]][] = [
  ['history --json', {}, [1, 2].map((seq) => JSON.stringify(entryOf(seq)))],
  [
    "history --since 2h --after 4 --model thing --entity boiler --format '{seq}: {attrs.temperature}'",
    { since: NOW - 7_200_000, after_seq: 4, model: 'thing', entity_id: 'boiler' },
    ['1: 1', '2: 2'],
  ],
  ["history --since all --format ''", { since: 0 }, ['', '']],
  ["history --since 1700000000 --format ''", { since: 1_700_000_000 }, ['', '']],
]

test('history shows entries as a table', async (t) => {
  const answer = () => success({ items: [entryOf(1), entryOf(2)] })
  const lines = [1, 2].map((seq) =>
    ['2023-11-14T22:13:20.000Z', 'thing', 'update', `boiler temperature=${seq}`].join('\t'),
  )
  t.deepEqual((await run('history', { answer })).context.printed, lines)
  const headed = (await run('history --header', { answer })).context.printed
  t.deepEqual(headed, ['TIME\tMODEL\tACTION\tENTRY', ...lines])
  const screen = { columns: 80, rows: 24, hasColor: false }
  t.deepEqual((await run('history --limit 1', { answer, screen })).context.printed, [
    'TIME                      MODEL  ACTION  ENTRY',
    ...[1, 2].map((seq) => `2023-11-14T22:13:20.000Z  thing  update  boiler temperature=${seq}`),
  ])
})

test('history shows entries by a template, or as JSON', async (t) => {
  for (const [words, asked, printed] of histories) {
    const { context, exitCode } = await run(words, {
      answer: () => success({ items: [entryOf(1), entryOf(2)] }),
    })
    t.is(exitCode, 0, words)
    t.deepEqual(context.requests[0]?.body, { ...credentials, limit: 50, ...asked }, words)
    t.deepEqual(context.printed, printed, words)
  }
})

// Goal: a list suits a terminal, a pipe and a program, however many pages it has.

import test from 'ava'

import { refusal, success } from '#test/support/fake-process-context'
import type { RecordedRequest } from '#test/support/fake-process-context'
import { CHANNEL, PASSWORD, run } from '#test/support/command-line'

const credentials = { channel_id: CHANNEL, password: PASSWORD }

const thing = (id: number) => ({
  thing_id: `t${id}`,
  state: 'active',
  rev: 1,
  seq: id,
  changed_at: 0,
  title: 'B\u001b[2J',
  attrs: { temperature: id },
})

/** Pages of two, five Things in all. */
const pages = (request: RecordedRequest) => {
  const { cursor = '0', limit } = request.body as { cursor?: string; limit: number }
  const from = Number(cursor)
  const ids = [1, 2, 3, 4, 5].slice(from, from + Math.min(limit, 2))
  const end = from + ids.length
  return success({ items: ids.map(thing), ...(end < 5 && { next_cursor: String(end) }) })
}

const screen = { columns: 80, rows: 24, hasColor: false }

test('a list reads pages until it has the wanted number of items', async (t) => {
  const rows: [words: string, ids: readonly number[], note: string | undefined][] = [
    ['thing list', [1, 2, 3, 4, 5], undefined],
    ['thing list --limit 3', [1, 2, 3], 'there is more: --cursor 3, or --all'],
    ['thing list --limit 5', [1, 2, 3, 4, 5], undefined],
    ['thing list --all', [1, 2, 3, 4, 5], undefined],
    ['thing list --cursor 3 --limit 1', [4], 'there is more: --cursor 4, or --all'],
  ]
  for (const [words, ids, note] of rows) {
    const { context } = await run(words, { answer: pages })
    const lines = ids.map(
      (id) => `t${id}\tactive\t1970-01-01T00:00:00.000Z\tB?[2J\ttemperature=${id}`,
    )
    t.deepEqual(context.printed, lines, words)
    t.deepEqual(context.diagnostics, note === undefined ? [] : [note], words)
    const json = await run(`${words} --json`, { answer: pages })
    t.deepEqual(
      json.context.printed,
      ids.map((id) => JSON.stringify(thing(id))),
      words,
    )
  }
})

test('--header puts the headings in front of the lines of a pipe, once', async (t) => {
  const { context } = await run('thing list --all --header', { answer: pages })
  t.is(context.printed[0], 'THING\tSTATE\tCHANGED\tTITLE\tATTRS')
  t.is(context.printed.length, 6)
})

test('a terminal gets a table that fits, and colours where it has them', async (t) => {
  const plain = await run('thing list --limit 1', { answer: pages, screen })
  t.deepEqual(plain.context.printed, [
    'THING  STATE   CHANGED                   TITLE  ATTRS',
    't1     active  1970-01-01T00:00:00.000Z  B?[2J  temperature=1',
  ])
  const narrow = await run('thing list --limit 1', {
    answer: pages,
    screen: { ...screen, columns: 20 },
  })
  t.true(narrow.context.printed.every((line) => line.length <= 20))
  const colour = await run('thing list --limit 1', {
    answer: pages,
    screen: { ...screen, hasColor: true },
  })
  t.regex(colour.context.printed[0] ?? '', /^\u001b\[1mTHING.*\u001b\[0m$/)
})

test('a diagnostic reports an empty list', async (t) => {
  const { context } = await run('event list --state open --thing boiler --acknowledged false', {
    answer: () => success({ items: [] }),
  })
  t.deepEqual(context.requests[0]?.body, {
    ...credentials,
    state: 'open',
    thing_id: 'boiler',
    acknowledged: false,
    limit: 50,
  })
  t.deepEqual(context.printed, [])
  t.deepEqual(context.diagnostics, ['none'])
})

test('dead letters are tried again once, also when they fail again, and one that is damaged keeps none from it', async (t) => {
  const kept = [1, 2, 3]
  const { context, exitCode } = await run('dead-letter retry --all', {
    answer: ({ url, body }) => {
      if (url.endsWith('/dead-letter/list')) {
        const { cursor = 0 } = body as { cursor?: string }
        const [id] = kept.filter((one) => one > Number(cursor))
        if (id === undefined) return success({ items: [] })
        return success({ items: [{ dead_letter_id: id }], next_cursor: String(id) })
      }
      const { dead_letter_id: id } = body as { dead_letter_id: number }
      if (id === 2) return refusal(409, 'dead_letter_unreadable')
      kept.push(kept.length + 1)
      return success({ op_id: `again-${id}` })
    },
  })
  t.deepEqual(context.printed, ['op_id  again-1', 'op_id  again-3'])
  t.deepEqual(context.diagnostics, [
    '2: dead_letter_unreadable',
    'error: 1 of 3 could not be tried again',
  ])
  t.is(exitCode, 1)
})

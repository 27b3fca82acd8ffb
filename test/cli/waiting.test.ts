// Goal: a command line waits for what becomes of a submission, and tells of a refusal.
// Method: answer with one status after the other; only waiting turns the time.

import test from 'ava'

import { refusal, success } from '#test/support/fake-process-context'
import type { RecordedRequest } from '#test/support/fake-process-context'
import { run } from '#test/support/command-line'

const decisions: [reached: readonly string[], exitCode: number, note: RegExp | undefined][] = [
  [['sent'], 0, undefined],
  [['accepted', 'processing', 'provider_queued'], 0, undefined],
  [['accepted', 'failed'], 1, /^error: nothing is changed: entity_not_found$/],
  [['accepted'], 7, /^error: 30 s are over, and nothing is decided; .* waits on$/],
]

test('a change waits for the decision of its channel, and tells of a refusal', async (t) => {
  const changes = [
    'event create --title t',
    'event close e',
    'event ack e',
    'thing create',
    'thing update x a=1',
    'thing archive x',
    'rule delete nope',
  ]
  for (const words of changes) {
    for (const [reached, exitCode, note] of decisions) {
      let asks = 0
      const answer = ({ url }: RecordedRequest) => {
        if (!url.endsWith('/send_status/o1')) return success({ op_id: 'o1' })
        const status = reached[Math.min(asks, reached.length - 1)]
        asks += 1
        return success({ op_id: 'o1', status, error_code: 'entity_not_found' })
      }
      const { context, exitCode: ended } = await run(words, { answer })
      t.is(ended, exitCode, words)
      t.deepEqual(context.printed, ['op_id  o1'], words)
      t.regex(context.diagnostics.join('\n'), note ?? /^$/, words)
    }
  }
})

const ends = ['event close nope', 'thing archive nope', 'thing delete nope']

test('what is not there is not ended: the gateway would make it and end it', async (t) => {
  for (const words of ends) {
    const answer = () => refusal(404, 'entity_not_found')
    const { context, exitCode } = await run(words, { answer })
    t.is(exitCode, 5, words)
    t.regex(context.requests[0]?.url ?? '', /\/get$/, words)
    t.is(context.requests.length, 1, words)
    t.deepEqual(context.printed, [], words)
  }
})

test('a key that may only send ends what it cannot look for', async (t) => {
  for (const words of ends) {
    const answer = ({ url }: RecordedRequest) =>
      url.endsWith('/get')
        ? refusal(403, 'key_scope')
        : success({ op_id: 'o1', status: 'provider_queued' })
    const { context, exitCode } = await run(words, { answer })
    t.is(exitCode, 0, words)
    t.is(context.requests.length, 3, words)
  }
})

test('send waits for no decision: nothing refuses a Message behind its answer', async (t) => {
  const { context } = await run('send t')
  t.is(context.requests.length, 1)
})

const waits: [reached: readonly string[], exitCode: number, asked: number][] = [
  [['sent'], 0, 1],
  [['accepted', 'processing', 'sent'], 0, 3],
  [['accepted', 'provider_queued', 'partially_failed'], 1, 3],
  [['failed'], 1, 1],
  [['accepted'], 7, 9],
]

test('status --wait ends with the operation, or after its timeout', async (t) => {
  for (const [reached, exitCode, asked] of waits) {
    let asks = 0
    const ended = await run('status o1 --wait --timeout 2 --json', {
      answer: () => {
        const status = reached[Math.min(asks, reached.length - 1)]
        asks += 1
        return success({ op_id: 'o1', status })
      },
    })
    t.is(ended.exitCode, exitCode, reached.join())
    t.is(asks, asked, reached.join())
    const last = JSON.stringify({ op_id: 'o1', status: reached.at(-1) })
    t.deepEqual(ended.context.printed, [last], reached.join())
  }
  t.is((await run('status o1', { answer: () => success({ status: 'failed' }) })).exitCode, 0)
})

const pauses: readonly (readonly [retryAfter: string, notes: readonly RegExp[]])[] = [
  ['48', [/^rate_limited: a sentence about it; next attempt in 4\d s$/]],
  ['0', []],
]

test('a command that waits for its next attempt says so, and why', async (t) => {
  for (const words of ['thing list', 'export']) {
    for (const [retryAfter, notes] of pauses) {
      let asks = 0
      const busy = refusal(429, 'rate_limited', { headers: { 'retry-after': retryAfter } })
      const answer = () => ((asks += 1) === 1 ? busy : refusal(403, 'key_expired'))
      const stopped = new AbortController().signal
      const { context, exitCode } = await run(words, { answer, stopped })
      t.not(exitCode, 0, words)
      t.is(asks, 2, words)
      const told = context.diagnostics.filter((line) => line.includes('rate_limited'))
      t.is(told.length, notes.length, words)
      for (const [at, note] of notes.entries()) t.regex(told[at] ?? '', note)
    }
  }
})

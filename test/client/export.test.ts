// Goal: an export over the SDK has every line once, whatever happens to its connection.
// Method: a gateway in memory whose answers are cut at any byte.

import test from 'ava'

import { createClient } from '#src/client/client'
import { HeliographError } from '#src/client/error'
import type { FetchAnswer, FetchInit } from '#src/client/runtime'
import { WEB } from '#src/client/runtime'
import { CREDENTIALS } from '#test/support/making'

type Line = Readonly<Record<string, unknown>>

const ENTRIES: readonly Line[] = [1, 2, 3].map((seq) => ({
  kind: 'update',
  seq,
  payload: { é: seq },
}))
const THINGS: readonly Line[] = ['a', 'b'].map((id) => ({ kind: 'thing', thing_id: id, seq: 1 }))
const SERIES: readonly Line[] = ['a 20', 'a 10', 'b 20'].map((place) => ({
  kind: 'series',
  thing_id: place[0],
  after_series: place,
}))
const END = { kind: 'end', complete: true, after_seq: 3 }

/** The answer of a gateway to a request for the rest. */
function linesBehind(body: Line): readonly Line[] {
  const { after_seq: seq = 0, after_thing: id = '', after_series: place } = body
  const given = SERIES.findIndex(({ after_series }) => after_series === place) + 1
  return [
    ...ENTRIES.filter((one) => Number(one['seq']) > Number(seq)),
    { kind: 'progress', after_seq: 3 },
    ...THINGS.filter((one) => String(one['thing_id']) > String(id)),
    ...SERIES.slice(given),
    END,
  ]
}

const textOf = (lines: readonly Line[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join('')

/** Gives some bytes at a time, and breaks off at the end when it is cut. */
async function* chunked(text: string, isCut: boolean): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text)
  for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7)
  if (isCut) throw new Error('the connection is gone')
}

const answer = (text: string, isCut = false, status = 200): FetchAnswer => ({
  ok: status === 200,
  status,
  headers: { get: () => null },
  text: async () => text,
  body: chunked(text, isCut),
})

const REFUSAL = (code: string) => JSON.stringify({ success: false, error: code, error_code: code })

/** A client whose requests get these answers in turn; time passes at once. */
function clientWith(next: (request: number, body: Line) => FetchAnswer) {
  const bodies: Line[] = []
  const fetch = async (_url: string, { body = '' }: FetchInit = {}): Promise<FetchAnswer> => {
    bodies.push(JSON.parse(body) as Line)
    return next(bodies.length, bodies.at(-1) ?? {})
  }
  const after = (delayMs: number, callback: () => void): (() => void) => {
    if (delayMs < 60_000) queueMicrotask(callback)
    return () => undefined
  }
  const runtime = { ...WEB, fetch, after, random: () => 0 }
  return { bodies, client: createClient({ baseUrl: 'http://gateway', runtime }) }
}

async function all(lines: AsyncIterable<object>): Promise<readonly object[]> {
  const found: object[] = []
  for await (const line of lines) found.push(line)
  return found
}

test('export/1: cut at any byte, an export has every line once, and asks only for the rest', async (t) => {
  const whole = textOf(linesBehind({}))
  for (let cut = 0; cut < whole.length; cut += 5) {
    const { client, bodies } = clientWith((request, body) => {
      const text = textOf(linesBehind(body))
      return request === 1 ? answer(text.slice(0, cut), cut % 2 === 0) : answer(text)
    })
    const lines = await all(client.channel.export({ ...CREDENTIALS, what: ['updates', 'things'] }))
    t.deepEqual(lines, [...ENTRIES, ...THINGS, ...SERIES, END], String(cut))
    t.is(bodies.length, 2)
    t.like(bodies[1], { ...CREDENTIALS, what: ['updates', 'things'] })
  }
})

test('an end that is not complete goes on later, from the place that it names', async (t) => {
  const cut = { kind: 'end', complete: false, after_seq: 2, error_code: 'server_busy' }
  const { client, bodies } = clientWith((request, body) =>
    answer(textOf(request === 1 ? [...ENTRIES.slice(0, 1), cut] : linesBehind(body))),
  )
  const lines = await all(client.channel.export(CREDENTIALS))
  t.deepEqual(lines, [ENTRIES[0], ENTRIES[2], ...THINGS, ...SERIES, END])
  t.is(bodies[1]?.['after_seq'], 2)
})

test('export/3: an export that left series out ends with their place, whatever happens to its connection', async (t) => {
  const gap = { kind: 'series', thing_id: 'a', from: 5, to: 10, attrs: {}, complete: false }
  const left = { ...gap, after_series: 'a 5' }
  const lines = [...ENTRIES, ...SERIES.slice(0, 2), left, ...SERIES.slice(2)]
  const end = { ...END, complete: false, after_series: 'a 10', error_code: 'series_incomplete' }
  const whole = textOf([...lines, end])
  for (const cut of [whole.length, whole.length - 5, textOf(lines).length - 5]) {
    const { client, bodies } = clientWith((request, body) => {
      if (request === 1) return answer(whole.slice(0, cut), cut < whole.length)
      // A request from behind the gap knows nothing of it.
      return answer(textOf([...(body['after_series'] === 'a 5' ? SERIES.slice(2) : []), END]))
    })
    t.deepEqual(await all(client.channel.export(CREDENTIALS)), [...lines, end], String(cut))
    t.is(bodies.length, cut === whole.length ? 1 : 2)
  }
})

test('an end for a key that has expired, and a refusal, are errors', async (t) => {
  const cut = { kind: 'end', complete: false, after_seq: 0, error_code: 'key_expired' }
  for (const [code, first] of [
    ['key_expired', answer(textOf([cut]))],
    ['validation_failed', answer(REFUSAL('validation_failed'), false, 400)],
    ['answer_invalid', answer('<html>\n')],
  ] as const) {
    const { client, bodies } = clientWith(() => first)
    const error = await t.throwsAsync(all(client.channel.export(CREDENTIALS)), {
      instanceOf: HeliographError,
    })
    t.is(error?.code, code)
    t.is(bodies.length, 1)
  }
})

test('export/2: attempts that bring nothing are bounded, and each line begins to count anew', async (t) => {
  const nothing = clientWith(() => answer('', true))
  await t.throwsAsync(all(nothing.client.channel.export(CREDENTIALS)), {
    code: 'connection_failed',
  })
  t.is(nothing.bodies.length, 4)
  const one = clientWith((_, body) => answer(textOf(linesBehind(body).slice(0, 1)), true))
  await t.throwsAsync(all(one.client.channel.export(CREDENTIALS)))
  t.is(one.bodies.at(-1)?.['after_seq'], 3)
  t.true(one.bodies.length > 4)
})

test('an export ends with its signal', async (t) => {
  const { client } = clientWith((_, body) => answer(textOf(linesBehind(body))))
  const signal = AbortSignal.abort(new Error('enough'))
  await t.throwsAsync(all(client.channel.export(CREDENTIALS, { signal })), { message: 'enough' })
})

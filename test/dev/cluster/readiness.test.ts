// Goal: each change of readiness is reported, with the missing dependencies.

import test from 'ava'

import { unreadyIn, watchReadiness } from '#src/dev/cluster/cluster'

const unready = (...dependencies: readonly object[]): string =>
  JSON.stringify({ success: false, data: { status: 'unready', dependencies } })

const LANES = { name: 'lanes', ready: false, detail: '10 of 16 applied' }
const STORE = { name: 'store', ready: true, detail: 'open' }

const rows: [body: string, text: string][] = [
  [unready(STORE, LANES), 'lanes: 10 of 16 applied'],
  [unready(LANES, { ...STORE, ready: false }), 'lanes: 10 of 16 applied, store: open'],
  ['{"data":{}}', 'it does not say why'],
  [unready(STORE), 'it does not say why'],
  ['<html>', 'it does not say why'],
  ['null', 'it does not say why'],
]

test('unreadyIn names the missing dependencies from the answer', (t) => {
  for (const [body, text] of rows) t.is(unreadyIn(body), text)
})

test('watchReadiness reports changes, and nothing during a long start', async (t) => {
  const told: string[] = []
  const answers = [
    () => new Response(unready(LANES), { status: 503 }),
    () => new Response('{}'),
    () => new Response('{}'),
    () => new Response(unready(LANES), { status: 503 }),
    () => new Response(unready(), { status: 503 }),
  ]
  const stopping = new AbortController()
  const ask: typeof fetch = async () => {
    const answer = answers.shift()
    if (answer !== undefined) return answer()
    stopping.abort()
    throw new Error('refused')
  }
  await watchReadiness({
    baseUrl: 'http://127.0.0.1:1',
    fetch: ask,
    signal: stopping.signal,
    changed: (isReady, text) => void told.push(`${isReady} ${text}`),
  })
  t.deepEqual(told, ['true ready', 'false not ready: lanes: 10 of 16 applied'])
})

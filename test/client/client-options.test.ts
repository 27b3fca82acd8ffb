// Goal: what a program says to the client when it makes one: where the gateway is, and whom to tell
// that a call is repeated.

import test from 'ava'

import { createClient } from '#src/client/client'
import type { HeliographError } from '#src/client/error'
import { WEB } from '#src/client/runtime'

const addresses: readonly (readonly [baseUrl: string, page: string | undefined, isOne: boolean])[] =
  [
    ['http://127.0.0.1:8080', undefined, true],
    ['https://push.example/heliograph/', undefined, true],
    ['push.example', undefined, false],
    ['localhost:8080', undefined, false],
    ['127.0.0.1:8080', undefined, false],
    ['ftp://push.example', undefined, false],
    ['', undefined, false],
    ['', 'https://push.example/app/', true],
    ['/heliograph', 'https://push.example/app/', true],
    ['/heliograph', 'file:///app.html', false],
  ]

test.serial('a base URL that no call could use is refused before the first one', (t) => {
  t.teardown(() => void Reflect.deleteProperty(globalThis, 'location'))
  for (const [baseUrl, page, isOne] of addresses) {
    Object.assign(globalThis, { location: page && { href: page } })
    const make = () => createClient({ baseUrl })
    if (isOne) t.notThrows(make, baseUrl)
    else
      t.throws(make, { instanceOf: TypeError, message: 'the base URL is not a valid URL' }, baseUrl)
  }
})

const refusal = (status: number, code: string, headers: Record<string, string> = {}): Response => {
  const json = { success: false, error: 'a sentence', error_code: code, problem: { code } }
  return Response.json(json, { status, headers })
}

test('a program is told why the client repeats a call and how long it waits before', async (t) => {
  const answers = [
    refusal(429, 'rate_limited', { 'retry-after': '48' }),
    new Error('reset'),
    refusal(404, 'gone'),
  ]
  const runtime = {
    ...WEB,
    random: (below: number) => Math.floor(below / 2),
    after: (_delayMs: number, callback: () => void) => {
      queueMicrotask(callback)
      return () => {}
    },
    fetch: async () => {
      const next = answers.shift()
      if (next === undefined) throw new Error('asked once too often')
      if (next instanceof Error) throw next
      return next
    },
  }
  const told: (readonly [code: string, delayMs: number])[] = []
  const onRepeat = ({ code }: HeliographError, delayMs: number) => void told.push([code, delayMs])
  const client = createClient({ baseUrl: 'https://push.example/', runtime, onRepeat })
  await t.throwsAsync(() => client.status('o'), { code: 'gone' })
  t.deepEqual(told, [
    ['rate_limited', 48_100],
    ['connection_failed', 200],
  ])
})

// The addresses that a stranger may name: which are fetched, and which are not in any notation.

import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { RequestListener } from 'node:http'
import { once } from 'node:events'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { isPublicAddress } from '#src/outbound/address-guard'
import { guardedFetch } from '#src/outbound/guarded-fetch'
import type { GuardedFetch } from '#src/outbound/guarded-fetch'
import { FakeTime } from '#test/support/fake-timers'
import { withAuthority } from '#test/support/certificate'
import type { Authority } from '#test/support/certificate'
import { turn, until } from '#test/support/until'

const HIDDEN = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '0x7f.0.0.0x1',
  '127.0.0.1.',
  '0',
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.168.1.1',
  '198.18.0.1',
  '203.0.113.9',
  '224.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::1]',
  '[100::1]',
  '[2001::1]',
  '[2001:db8::1]',
  '[2002:7f00:1::]',
  '[3fff::1]',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
] as const

for (const host of HIDDEN) {
  test(`guarded-fetch/1: https://${host}/ is not fetched`, async (t) => {
    const fetched = guardedFetch({ timers: new FakeTime(0), resolve: () => Promise.resolve([]) })
    await t.throwsAsync(fetched(`https://${host}/client.json`), { message: /not public/ })
  })
}

test('guarded-fetch/1: only addresses of the public network count as public', (t) => {
  for (const address of ['1.1.1.1', '93.184.216.34', '172.32.0.1', '2606:4700::1111', '2a00::1']) {
    t.true(isPublicAddress(address), address)
  }
  t.false(isPublicAddress('fe80::1%eth0'))
  t.false(isPublicAddress('no address'))
})

test('address-guard/1, guarded-fetch/1: a name is fetched only when each of its addresses is public', async (t) => {
  const resolve = (): Promise<string[]> => Promise.resolve(['93.184.216.34', '127.0.0.1'])
  const fetched = guardedFetch({ timers: new FakeTime(0), resolve })
  await t.throwsAsync(fetched('https://rebound.example/'), { message: /not public/ })
})

for (const url of ['http://93.184.216.34/', 'https://u:p@93.184.216.34/', 'file:///etc/passwd']) {
  test(`guarded-fetch/1: ${url} is not fetched`, async (t) => {
    const fetched = guardedFetch({ timers: new FakeTime(0) })
    await t.throwsAsync(fetched(url), { message: /only https/ })
  })
}

interface Serving {
  readonly authority: Authority
  readonly listener: RequestListener
}

interface Served {
  readonly fetched: ReturnType<typeof guardedFetch>
  readonly url: string
  readonly time: FakeTime
  readonly asked: () => number
}

async function serve(t: ExecutionContext, { authority, listener }: Serving): Promise<Served> {
  const { certFile, keyFile } = await authority.issue('DNS:client.example', 2)
  const [cert, key] = [await readFile(certFile), await readFile(keyFile)]
  const ca = await readFile(authority.caFile, 'utf8')
  let asked = 0
  const server = createServer({ cert, key }, (request, response) => {
    asked += 1
    listener(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const time = new FakeTime(0)
  const resolve = (): Promise<string[]> => Promise.resolve(['127.0.0.1'])
  const fetched = guardedFetch({ timers: time, resolve, isPublic: () => true, ca })
  return { fetched, url: `https://client.example:${port}/c.json`, time, asked: () => asked }
}

test(
  'a document is fetched from the address that was checked',
  withAuthority(async (t, authority) => {
    const { fetched, url } = await serve(t, {
      authority,
      listener: (_request, response) => {
        response.setHeader('content-type', 'application/json')
        response.end('{"a":1}')
      },
    })
    const answer = await fetched(url)
    t.is(answer.status, 200)
    t.is(answer.headers.get('content-type'), 'application/json')
    t.deepEqual(await answer.json(), { a: 1 })
  }),
)

test(
  'guarded-fetch/2: a redirect is not followed',
  withAuthority(async (t, authority) => {
    const { fetched, url, asked } = await serve(t, {
      authority,
      listener: (_request, response) => void response.writeHead(302, { location: '/x' }).end(),
    })
    t.is((await fetched(url)).status, 302)
    t.is(asked(), 1)
  }),
)

test(
  'guarded-fetch/2: an answer that is too large or too slow is given up',
  withAuthority(async (t, authority) => {
    const answering = (bytes: number) =>
      serve(t, { authority, listener: (_, response) => void response.end(Buffer.alloc(bytes)) })
    const large = await answering(65_537)
    await t.throwsAsync(large.fetched(large.url), { message: /too large/ })
    const whole = await answering(65_536)
    t.is((await (await whole.fetched(whole.url)).arrayBuffer()).byteLength, 65_536)
    const slow = await serve(t, {
      authority,
      listener: (_request, response) => void response.write('x'),
    })
    const answer = slow.fetched(slow.url)
    await until('it was asked', () => slow.asked() === 1)
    slow.time.advance(3_000)
    await t.throwsAsync(answer)
  }),
)

test('guarded-fetch/2: a bounded number of documents is fetched at once', async (t) => {
  const { fetched } = unanswered()
  const waiting = Array.from({ length: 16 }, () => fetched('https://client.example/'))
  await t.throwsAsync(fetched('https://client.example/'), { message: /too much/ })
  t.is(waiting.length, 16)
})

test('guarded-fetch/3: a look-up that goes on after its time keeps its place', async (t) => {
  const { fetched, time, end } = unanswered()
  const waiting = Array.from({ length: 16 }, () => fetched('https://client.example/'))
  time.advance(3_000)
  for (const { status } of await Promise.allSettled(waiting)) t.is(status, 'rejected')
  await t.throwsAsync(fetched('https://client.example/'), { message: /too much/ })
  end()
  await turn()
  await t.throwsAsync(fetched('https://127.0.0.1/'), { message: /not public/ })
})

/** Names that nobody answers, until `end`. */
function unanswered(): {
  readonly fetched: GuardedFetch
  readonly time: FakeTime
  readonly end: () => void
} {
  const time = new FakeTime(0)
  const late = Promise.withResolvers<string[]>()
  const fetched = guardedFetch({ timers: time, resolve: () => late.promise })
  return { fetched, time, end: () => late.resolve([]) }
}

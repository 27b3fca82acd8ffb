// Goal: a stranger makes the gateway fetch little, and clients that people let in go on meanwhile.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { whileAsking } from '#src/authorization/asking'
import { metadataFetch } from '#src/authorization/client-metadata'
import type { GuardedFetch } from '#src/outbound/guarded-fetch'
import {
  Browser,
  Client,
  REDIRECT,
  RESOURCE,
  startAuthorization,
} from '#test/support/authorization-rig'
import type { AuthorizationRig } from '#test/support/authorization-rig'
import { FakeTime } from '#test/support/fake-timers'

const DOCUMENT = 'https://assistant.example/client.json'

/** The metadata of a client under its address. */
const answering: GuardedFetch = (url) =>
  Promise.resolve(
    Response.json({
      client_id: String(url),
      client_name: 'A documented assistant',
      redirect_uris: [REDIRECT],
      token_endpoint_auth_method: 'none',
    }),
  )

const DEAD: readonly (readonly [what: string, fetch: GuardedFetch])[] = [
  ['cannot be looked up', () => Promise.reject(new Error('it took too long'))],
  ['has a defect', () => Promise.resolve(new Response('', { status: 503 }))],
  ['is busy', () => Promise.resolve(new Response('', { status: 429 }))],
]

/** A client with a grant, and its refresh token. */
async function letIn(t: ExecutionContext): Promise<{
  readonly rig: AuthorizationRig
  readonly refreshToken: string
}> {
  const rig = await startAuthorization(t, { fetch: answering })
  const client = new Client(rig, DOCUMENT)
  const { json } = await client.redeem((await client.allowed()).get('code') ?? '')
  return { rig, refreshToken: String(json['refresh_token']) }
}

for (const [what, fetch] of DEAD) {
  test(`client-metadata/2: a client that a person let in goes on while its address ${what}`, async (t) => {
    const { rig, refreshToken } = await letIn(t)
    // Another node has nothing in its memory.
    const other = await startAuthorization(t, { store: rig.store, fetch })
    const known = new Client(other, DOCUMENT)
    const { status, json } = await known.refresh(refreshToken)
    t.is(status, 200)
    t.not(await other.tokens.verify(String(json['access_token']), RESOURCE), undefined)
    t.not((await known.allowed()).get('code'), null)
    const unknown = new Client(other, `${DOCUMENT}?other`)
    t.is((await unknown.ask(new Browser(other.url))).status, 400)
  })
}

for (const [what, fetch] of [
  ['that is gone', () => Promise.resolve(new Response('', { status: 404 }))],
  ['of another client', () => Promise.resolve(Response.json({ client_id: `${DOCUMENT}x` }))],
] as const) {
  test(`client-metadata/2: a document ${what} ends what was stored`, async (t) => {
    const { rig, refreshToken } = await letIn(t)
    const other = await startAuthorization(t, { store: rig.store, fetch })
    const { status } = await new Client(other, DOCUMENT).refresh(refreshToken)
    t.true(status === 400 || status === 401)
  })
}

test('metadata of a client stays for as long as its grants', async (t) => {
  const { rig, refreshToken } = await letIn(t)
  const [, [, fetch] = ['', answering]] = DEAD
  rig.time.advance(20 * 86_400_000)
  const { json } = await new Client(rig, DOCUMENT).refresh(refreshToken)
  const other = await startAuthorization(t, { store: rig.store, fetch })
  other.time.advance(40 * 86_400_000)
  t.is((await new Client(other, DOCUMENT).refresh(String(json['refresh_token']))).status, 200)
  other.time.advance(33 * 86_400_000)
  t.is((await new Client(other, DOCUMENT).ask(new Browser(other.url))).status, 400)
})

test('client-metadata/1: an address makes the gateway fetch 20 documents a minute', async (t) => {
  const fetched: string[] = []
  const fetch: GuardedFetch = (url) => {
    fetched.push(String(url))
    return answering(url)
  }
  const trustedProxies = ['127.0.0.1/32']
  const rig = await startAuthorization(t, { fetch, trustedProxies })
  const ask = (at: number, address = '203.0.113.1') =>
    rig.get(new Client(rig, `${DOCUMENT}?${at}`).authorizePath(), { 'x-forwarded-for': address })
  for (let at = 0; at < 20; at += 1) await ask(at)
  t.is(fetched.length, 20)
  t.true((await ask(20)).text.includes('invalid_client'))
  t.is(fetched.length, 20)
  await ask(20, '203.0.113.2')
  t.is(fetched.length, 21)
  rig.time.advance(60_000)
  await ask(21)
  t.is(fetched.length, 22)
})

test('client-metadata/1: all addresses together make the gateway fetch 400 documents a minute', async (t) => {
  const time = new FakeTime(0)
  const nothing = { find: () => Promise.resolve(undefined), put: () => Promise.resolve() }
  let fetched = 0
  const fetch = metadataFetch({ records: nothing, runtime: time }, (url) => {
    fetched += 1
    return answering(url)
  })
  const askFrom = (at: number): Promise<unknown> =>
    whileAsking({ requestId: '', address: `203.0.${at >> 8}.${at & 255}` }, () => fetch(DOCUMENT))
  for (let at = 0; at < 400; at += 1) await askFrom(at)
  await t.throwsAsync(askFrom(400), { message: 'too much was fetched' })
  t.is(fetched, 400)
  time.advance(60_000)
  await askFrom(400)
  t.is(fetched, 401)
})

// Method: what a stranger may cost the authorization server: requests in a minute, bytes, rows.

import { DatabaseSync } from 'node:sqlite'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { TEST_MS } from '#test/support/bounds'
import { Browser, Client, REDIRECT, startAuthorization } from '#test/support/authorization-rig'
import type { AuthorizationRig } from '#test/support/authorization-rig'
import { databasePath, openStoreAt } from '#test/support/sqlite-store'

/** The statuses of requests that go out ten at a time. */
async function statuses(count: number, ask: () => Promise<{ status: number }>): Promise<number[]> {
  const all: number[] = []
  while (all.length < count) {
    const some = Array.from({ length: Math.min(10, count - all.length) }, ask)
    all.push(...(await Promise.all(some)).map(({ status }) => status))
  }
  return all
}

const form = (body: string): RequestInit => ({
  method: 'POST',
  body,
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
})

/** For each kind of request: how it is sent, and how many an address may send in a minute. */
const KINDS: readonly (readonly [
  what: string,
  perAddress: number,
  ask: (rig: AuthorizationRig) => Promise<{ status: number; headers: Headers }>,
])[] = [
  ['authorizations', 60, (rig) => rig.get('/oauth/authorize?client_id=x')],
  ['tokens', 300, (rig) => rig.send('/oauth/token', form('client_id=x'))],
  ['revocations', 300, (rig) => rig.send('/oauth/revoke', form('client_id=x&token=y'))],
  ['pages', 300, (rig) => rig.get('/oauth/session/x')],
  ['keys', 300, (rig) => rig.get('/oauth/jwks')],
]

for (const [what, perAddress, ask] of KINDS) {
  test(`rows/2: beyond ${perAddress} ${what} an address is refused before anything is read`, async (t) => {
    t.timeout(TEST_MS)
    const rig = await startAuthorization(t)
    const taken = await statuses(perAddress, () => ask(rig))
    t.false(taken.includes(429))
    // Whatever reads or writes fails from here on.
    await rig.store.close()
    const refused = await ask(rig)
    t.is(refused.status, 429)
    t.is(refused.headers.get('retry-after'), '60')
  })
}

test('rows/2: all addresses together register a bounded number of clients', async (t) => {
  t.timeout(TEST_MS)
  const rig = await startAuthorization(t, { trustedProxies: ['127.0.0.1/32'] })
  const body = { redirect_uris: [REDIRECT] }
  let at = 0
  const ask = () => {
    at += 1
    const address = `203.0.113.${Math.floor(at / 20)}`
    return rig.post('/oauth/register', body, { 'x-forwarded-for': address })
  }
  t.deepEqual(new Set(await statuses(400, ask)), new Set([201]))
  t.is((await ask()).status, 429)
})

test('a refusal is a page for people, and an error of OAuth for clients', async (t) => {
  const rig = await startAuthorization(t)
  const chinese = { 'accept-language': 'zh-CN' }
  await statuses(60, () => rig.get('/oauth/authorize'))
  const page = await rig.get('/oauth/authorize', chinese)
  t.is(page.headers.get('content-type'), 'text/html; charset=utf-8')
  t.is(page.headers.get('content-language'), 'zh-CN')
  t.regex(page.headers.get('content-security-policy') ?? '', /default-src 'none'/)
  t.true(page.text.includes('请求过多'))
  await statuses(20, () => rig.post('/oauth/register', {}))
  const { json } = await rig.post('/oauth/register', {})
  t.is(json['error'], 'rate_limited')
})

/** Sends the request for a grant; gives the error that the client is told, or none. */
async function asked(
  rig: AuthorizationRig,
  client: Client,
  more: Readonly<Record<string, string>>,
): Promise<URLSearchParams> {
  const seen = await new Browser(rig.url).open(client.authorizePath(more))
  return new URL(seen.location, 'http://localhost').searchParams
}

const redirectOf = (bytes: number): string => `${REDIRECT}?`.padEnd(bytes, 'x')
const REDIRECTS = [REDIRECT, redirectOf(1_024), redirectOf(1_025)]

for (const [name, bytesMax, fits, long] of [
  ['state', 2_048, 'x'.repeat(2_048), 'x'.repeat(2_049)],
  ['state', 2_048, 'é'.repeat(1_024), 'é'.repeat(1_025)],
  ['login_hint', 256, 'x'.repeat(256), 'x'.repeat(257)],
  ['redirect_uri', 1_024, redirectOf(1_024), redirectOf(1_025)],
] as const) {
  const starts = `${name} that begins with ${fits.slice(0, 1)}`
  test(`provider/5: a ${starts} has at most ${bytesMax} bytes`, async (t) => {
    const rig = await startAuthorization(t)
    const client = await Client.register(rig, { redirect_uris: REDIRECTS })
    t.is((await asked(rig, client, { [name]: fits })).get('error'), null)
    const told = await asked(rig, client, { [name]: long })
    t.is(told.get('error'), 'invalid_request')
    t.is(told.get('error_description'), `${name} has more than ${bytesMax} bytes`)
  })
}

test('adapter/3: a request whose record JSON makes too long is refused', async (t) => {
  const rig = await startAuthorization(t)
  const client = await Client.register(rig)
  const told = await asked(rig, client, { state: '\u0001'.repeat(2_048) })
  t.is(told.get('error'), 'invalid_request')
  t.regex(told.get('error_description') ?? '', /all parameters together/)
})

/** A server whose database another connection reads. */
async function startOpen(
  t: ExecutionContext,
): Promise<{ readonly rig: AuthorizationRig; readonly database: DatabaseSync }> {
  const path = await databasePath(t)
  const store = await openStoreAt(t, path)
  const first = await startAuthorization(t)
  const kept = await first.store.channels.credentials(first.channelId)
  if (kept === undefined) throw new Error('bad fixture')
  await store.channels.create({ ...kept, createdAt: 1 })
  const rig = await startAuthorization(t, { store })
  const database = new DatabaseSync(path, { readOnly: true })
  t.teardown(() => database.close())
  return { rig, database }
}

test('adapter/3: authorizations that nobody finishes have 4,096 bytes each, and ten minutes', async (t) => {
  const { rig, database } = await startOpen(t)
  const client = await Client.register(rig)
  for (const state of ['x'.repeat(2_048), 'x'.repeat(8_000)]) {
    for (let at = 0; at < 10; at += 1) await asked(rig, client, { state })
  }
  const rows = database
    .prepare(
      `SELECT length(payload) AS bytes, expires_at AS expiresAt FROM authorization_records
        WHERE model = 'Interaction'`,
    )
    .all()
  t.is(rows.length, 10)
  for (const { bytes, expiresAt } of rows) {
    t.true(Number(bytes) <= 4_096)
    t.is(Number(expiresAt), rig.time.nowMs() + 600_000)
  }
})

test('adapter/1: the database holds no id of a session or an authorization', async (t) => {
  const { rig, database } = await startOpen(t)
  const client = await Client.register(rig)
  const browser = new Browser(rig.url)
  const ids = new Set<string>()
  const note = (): void => {
    for (const [name, value] of browser.cookies) {
      if (/^heliograph_(oauth|bind|resume)$/.test(name)) ids.add(value)
    }
  }
  await client.allowed({}, browser)
  note()
  await client.ask(browser)
  note()
  t.is(ids.size, 3)
  const rows = JSON.stringify(database.prepare('SELECT * FROM authorization_records').all())
  for (const id of ids) t.false(rows.includes(id))
})

test('a metadata document that is too large for a client is refused', async (t) => {
  const rig = await startAuthorization(t)
  const { status, json } = await rig.post('/oauth/register', {
    redirect_uris: [REDIRECT],
    client_name: 'x'.repeat(4_096),
  })
  t.is(status, 400)
  t.is(json['error'], 'invalid_client_metadata')
})

// Method: one attack a row or a test, over a real ingress and a store; each is refused.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import {
  ALLOWED,
  BASE,
  Browser,
  Client,
  REDIRECT,
  RESOURCE,
  startAuthorization,
} from '#test/support/authorization-rig'
import type { AuthorizationRig, AuthorizationRigOptions } from '#test/support/authorization-rig'
import { PASSWORD } from '#test/support/making'

interface Started {
  readonly rig: AuthorizationRig
  readonly client: Client
}

async function start(t: ExecutionContext, options?: AuthorizationRigOptions): Promise<Started> {
  const rig = await startAuthorization(t, options)
  return { rig, client: await Client.register(rig) }
}

const codeOf = async (client: Client, more = {}): Promise<string> =>
  (await client.allowed(more)).get('code') ?? ''

test('provider/1: a code that is used again ends the grant of its first use', async (t) => {
  const { rig, client } = await start(t)
  const code = await codeOf(client)
  const first = await client.redeem(code)
  const token = String(first.json['access_token'])
  const grant = await rig.tokens.verify(token, RESOURCE)
  t.not(grant, undefined)
  const replay = await client.redeem(code)
  t.is(replay.status, 400)
  t.is(replay.json['error'], 'invalid_grant')
  t.is(await rig.tokens.verify(token, RESOURCE), undefined)
  t.deepEqual(await rig.bindings.ofGrant(grant?.grantId ?? ''), [])
  t.is((await client.refresh(String(first.json['refresh_token']))).status, 400)
})

test('a script of another site reads no token of a client', async (t) => {
  const { client } = await start(t)
  const origin = { origin: 'https://elsewhere.example' }
  const { headers } = await client.redeem(await codeOf(client), {}, origin)
  t.is(headers.get('access-control-allow-origin'), null)
})

test('adapter/2: when a code is used many times at once, at most one use gives tokens', async (t) => {
  const { client } = await start(t)
  const code = await codeOf(client)
  const all = await Promise.all(Array.from({ length: 6 }, () => client.redeem(code)))
  t.true(all.filter(({ status }) => status === 200).length <= 1)
})

test('provider/1: a refresh token that is used again ends its whole family', async (t) => {
  const { rig, client } = await start(t)
  const first = await client.redeem(await codeOf(client))
  const second = await client.refresh(String(first.json['refresh_token']))
  t.is(second.status, 200)
  t.is((await client.refresh(String(first.json['refresh_token']))).status, 400)
  t.is((await client.refresh(String(second.json['refresh_token']))).status, 400)
  for (const { json } of [first, second]) {
    t.is(await rig.tokens.verify(String(json['access_token']), RESOURCE), undefined)
  }
})

for (const [what, more, error] of [
  ['a wrong verifier', { code_verifier: 'w'.repeat(43) }, 'invalid_grant'],
  ['no verifier', { code_verifier: '' }, 'invalid_grant'],
  ['another redirect', { redirect_uri: `${REDIRECT}/other` }, 'invalid_grant'],
  ['another audience', { resource: `${BASE}/elsewhere` }, 'invalid_target'],
  ['an unknown client', { client_id: 'unknown' }, 'invalid_client'],
] as const) {
  test(`a code with ${what} gives no token`, async (t) => {
    const { client } = await start(t)
    const refused = await client.redeem(await codeOf(client), more)
    t.true(refused.status === 400 || refused.status === 401)
    t.is(refused.json['error'], error)
  })
}

test('provider/3: a browser in which a person allowed is asked each time, or gets no code', async (t) => {
  const { rig, client } = await start(t)
  const browser = new Browser(rig.url)
  t.not((await client.allowed({}, browser)).get('code'), null)
  const again = await client.ask(browser)
  t.regex(again.path, /^\/oauth\/bind\//)
  t.regex(again.html, /name="form_token"/)
  const silent = new URL((await client.ask(browser, { prompt: 'none' })).location).searchParams
  t.is(silent.get('code'), null)
  t.is(silent.get('error'), 'consent_required')
})

test("another client cannot use a client's code or refresh token", async (t) => {
  const { rig, client } = await start(t)
  const other = await Client.register(rig)
  const code = await codeOf(client)
  const stolen = await other.redeem(code, { code_verifier: client.verifier })
  t.is(stolen.json['error'], 'invalid_grant')
  const mine = await client.redeem(await codeOf(client))
  t.is((await other.refresh(String(mine.json['refresh_token']))).json['error'], 'invalid_grant')
})

for (const [what, more, error] of [
  ['plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
  ['no PKCE', { code_challenge: '', code_challenge_method: '' }, 'invalid_request'],
  ['another audience', { resource: 'https://elsewhere.example/mcp' }, 'invalid_target'],
  ['another kind of answer', { response_type: 'token' }, 'unsupported_response_type'],
  ['an unknown scope', { scope: 'admin' }, 'invalid_scope'],
] as const) {
  test(`a request for a grant with ${what} is sent back with its issuer`, async (t) => {
    const { rig, client } = await start(t)
    const browser = new Browser(rig.url)
    const { location } = await client.ask(browser, more)
    const told = new URL(location)
    t.is(told.origin + told.pathname, REDIRECT)
    const parameters = new URLSearchParams(told.search || told.hash.slice(1))
    t.is(parameters.get('error'), error)
    t.is(parameters.get('iss'), BASE) // RFC 9207: answers of two issuers are not mixed up
  })
}

for (const [what, redirect] of [
  ['of another host', 'https://elsewhere.example/callback'],
  ['of another path', 'http://127.0.0.1:4711/other'],
  ['with a user', 'http://user@127.0.0.1:4711/callback'],
  ['that begins alike', `${REDIRECT}.elsewhere.example`],
] as const) {
  test(`a redirect ${what} leads nowhere`, async (t) => {
    const { rig, client } = await start(t)
    const seen = await client.ask(new Browser(rig.url), { redirect_uri: redirect })
    t.is(seen.status, 400)
    t.is(seen.location, '')
    t.false(seen.html.includes(redirect))
    t.regex(seen.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/)
  })
}

for (const uri of ['http://elsewhere.example/x', 'javascript:alert(1)', 'data:text/html,x']) {
  test(`a client that registers the redirect ${uri} is refused`, async (t) => {
    const { rig } = await start(t)
    const refused = await rig.post('/oauth/register', { redirect_uris: [uri] })
    t.is(refused.status, 400)
  })
}

test('visit/1: the sixty-first password is not compared', async (t) => {
  const budget = { perAddress: 60, total: 1_200 }
  const { rig, client } = await start(t, { passwordBudget: budget })
  const browser = new Browser(rig.url)
  const page = await client.ask(browser)
  const statuses: number[] = []
  for (let at = 0; at < 60; at += 1) {
    const wrong = { ...ALLOWED, password: `wrong password ${at}` }
    statuses.push((await browser.send(page, wrong)).status)
  }
  t.deepEqual([...new Set(statuses)], [404])
  const refused = await browser.send(page, ALLOWED)
  t.is(refused.status, 429)
  t.not(refused.headers.get('retry-after'), null)
  rig.time.advance(60_000)
})

test('forms/1: a form from elsewhere binds nothing', async (t) => {
  const { rig, client } = await start(t)
  const browser = new Browser(rig.url)
  const page = await client.ask(browser)
  const foreign = await browser.send(page, ALLOWED, { origin: 'https://elsewhere.example' })
  t.is(foreign.status, 403)
  t.is((await browser.send(page, { ...ALLOWED, form_token: 'x' })).status, 403)
  t.is((await browser.send({ ...page, html: '' }, ALLOWED)).status, 403)
  const thief = new Browser(rig.url)
  t.is((await thief.send(page, ALLOWED)).status, 410)
  browser.cookies.delete('heliograph_form')
  t.is((await browser.send(page, ALLOWED)).status, 403)
})

test('page/1: the name and other claims of a client stand on the page as text', async (t) => {
  const { rig } = await start(t)
  const client = await Client.register(rig, { client_name: '<script>alert("x")</script>&' })
  const page = await client.ask(new Browser(rig.url))
  t.false(page.html.includes('<script'))
  t.true(page.html.includes('&#60;script&#62;'))
  for (const [name, value] of [
    ['content-security-policy', /default-src 'none'.*frame-ancestors 'none'/],
    ['x-frame-options', /^DENY$/],
    ['cache-control', /^no-store$/],
    ['referrer-policy', /^same-origin$/],
  ] as const) {
    t.regex(page.headers.get(name) ?? '', value)
  }
})

test('server/1: a request for the name of another host is refused', async (t) => {
  const { rig, client } = await start(t)
  for (const path of [client.authorizePath(), '/oauth/assistants']) {
    t.not(await statusFor(rig, path, 'localhost'), 421)
    t.is(await statusFor(rig, path, 'rebound.example'), 421)
  }
})

async function statusFor(rig: AuthorizationRig, path: string, host: string): Promise<number> {
  const raw = rig.connect()
  raw.socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  const text = await raw.until(/\r\n\r\n/)
  return Number(text.split(' ')[1])
}

test('rows/2: an address registers a bounded number of clients a minute', async (t) => {
  const { rig } = await start(t)
  const body = { redirect_uris: [REDIRECT] }
  const statuses: number[] = []
  for (let at = 0; at < 20; at += 1) statuses.push((await rig.post('/oauth/register', body)).status)
  t.is(statuses.at(-1), 429)
  t.is(statuses.filter((status) => status === 201).length, 19)
})

test('nobody registers while registration is off, or without the token that it asks for', async (t) => {
  const body = { redirect_uris: [REDIRECT] }
  const off = await startAuthorization(t, { registration: { kind: 'off' } })
  t.is((await off.post('/oauth/register', body)).status, 404)
  const { json } = await off.get('/.well-known/oauth-authorization-server')
  t.is(json['registration_endpoint'], undefined)
  const registration = { kind: 'with-token', token: 'initial-secret' } as const
  const rig = await startAuthorization(t, { registration })
  t.is((await rig.post('/oauth/register', body)).status, 401)
  const wrong = { authorization: 'Bearer another' }
  t.is((await rig.post('/oauth/register', body, wrong)).status, 401)
  const right = { authorization: 'Bearer initial-secret' }
  t.is((await rig.post('/oauth/register', body, right)).status, 201)
})

test('adapter/1: the database holds neither codes nor tokens, only their hashes', async (t) => {
  const { rig, client } = await start(t)
  const code = await codeOf(client)
  const { json } = await client.redeem(code)
  const kept: string[] = []
  const put = rig.store.authorization
  for (const model of ['AccessToken', 'RefreshToken', 'AuthorizationCode']) {
    for (const value of [code, json['access_token'], json['refresh_token']]) {
      t.is(await put.find(model, String(value), rig.time.nowMs()), undefined)
      kept.push(String(value))
    }
  }
  const { hashOf } = await import('#src/authorization/adapter')
  const found = await put.find('AccessToken', hashOf(String(json['access_token'])), 0)
  t.not(found, undefined)
  for (const secret of [...kept, PASSWORD]) t.false(found?.payload.includes(secret))
  t.false(JSON.stringify(rig.logger.lines).includes(code))
})

test('a revoked refresh token takes its grant along', async (t) => {
  const { rig, client } = await start(t)
  const { json } = await client.redeem(await codeOf(client))
  const token = String(json['refresh_token'])
  const body = new URLSearchParams({ token, client_id: client.id }).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  t.is((await rig.send('/oauth/revoke', { method: 'POST', body, headers })).status, 200)
  t.is((await client.refresh(token)).status, 400)
  t.is(await rig.tokens.verify(String(json['access_token']), RESOURCE), undefined)
})

test('tokens, codes and pages expire', async (t) => {
  const { rig, client } = await start(t)
  const late = await codeOf(client)
  rig.time.advance(60_000)
  t.is((await client.redeem(late)).status, 400)
  const { json } = await client.redeem(await codeOf(client))
  const token = String(json['access_token'])
  rig.time.advance(899_000)
  t.not(await rig.tokens.verify(token, RESOURCE), undefined)
  rig.time.advance(1_000)
  t.is(await rig.tokens.verify(token, RESOURCE), undefined)
  const browser = new Browser(rig.url)
  const page = await client.ask(browser)
  rig.time.advance(600_000)
  const expired = await browser.send(page, ALLOWED)
  t.is(expired.status, 410)
})

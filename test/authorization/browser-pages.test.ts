// Goal: what the gateway knows a browser for is told, guarded, and forgotten when a person says so.

import test from 'ava'

import { addChannel } from '#test/support/start-ingress'
import { CHANNEL, NOW_MS, PASSWORD } from '#test/support/making'
import { channel } from '#test/support/submissions'
import {
  ALLOWED,
  Browser,
  Client,
  RESOURCE,
  startAuthorization,
} from '#test/support/authorization-rig'
import type { AuthorizationRig } from '#test/support/authorization-rig'

const SECOND = channel(7)

/** A further channel with PASSWORD, for acceptance and in the store. */
async function addSecond({ channels, store }: AuthorizationRig): Promise<void> {
  const id = await addChannel(channels, SECOND, PASSWORD)
  const kept = await channels.credentials(id)
  if (kept === undefined) throw new Error('bad fixture')
  await store.channels.create({ ...kept, channelName: '<b>second</b>', createdAt: NOW_MS })
}

const cookieLines = (headers: Headers): string[] => headers.getSetCookie()

test('cookies/1: over https each cookie is bound to the host, or to its page', async (t) => {
  const baseUrl = 'https://push.example'
  const rig = await startAuthorization(t, { baseUrl })
  const client = await Client.register(rig)
  const browser = new Browser(rig.url, {}, baseUrl)
  const resource = `${baseUrl}/mcp`
  const begun = await browser.open(client.authorizePath({ resource }))
  const page = await browser.follow(begun)
  const sent = await browser.send(page, ALLOWED)
  const resumed = await browser.open(sent.location)
  const lines = [begun, page, resumed].flatMap(({ headers }) => cookieLines(headers))
  const names = new Set(lines.map((line) => line.split('=')[0] ?? ''))
  for (const name of [
    '__Host-heliograph_form',
    '__Host-heliograph_oauth',
    '__Secure-heliograph_bind',
  ]) {
    t.true(names.has(name), name)
  }
  for (const line of lines) {
    t.regex(line, /^__(Host|Secure)-heliograph_/)
    t.regex(line, /; secure/i)
    t.regex(line, /; httponly/i)
    if (line.startsWith('__Host-')) t.regex(line, /; path=\/(;|$)/i)
    t.notRegex(line, /; domain/i)
  }
  t.not(new URL(resumed.location).searchParams.get('code'), null)
})

test('a person signs out, and the browser is a new one after that', async (t) => {
  const rig = await startAuthorization(t)
  const client = await Client.register(rig)
  const browser = new Browser(rig.url)
  const code = (await client.allowed({}, browser)).get('code') ?? ''
  const { json } = await client.redeem(code)
  const kept = new Map(browser.cookies)
  const page = await browser.open('/oauth/sign-out')
  t.is(page.status, 200)
  t.is((await browser.send(page, { form_token: 'x' })).status, 403)
  t.true(browser.cookies.has('heliograph_oauth'))
  const out = await browser.send(page, {})
  t.is(out.status, 200)
  t.true(out.html.includes('You are signed out'))
  for (const name of ['heliograph_oauth', 'heliograph_oauth.sig', 'heliograph_form']) {
    t.false(browser.cookies.has(name), name)
  }
  // The cookies alone, had somebody copied them, stand for nobody.
  for (const [name, value] of kept) browser.cookies.set(name, value)
  t.false((await client.ask(browser)).html.includes(CHANNEL))
  await client.allowed({}, browser)
  const token = String(json['access_token'])
  t.not(await rig.tokens.verify(token, RESOURCE), undefined, 'the assistant keeps its grant')
  t.like(
    rig.log.lines.find(({ fact }) => fact === 'a browser signed out'),
    { level: 'info' },
  )
})

test('a browser that nobody knows signs out too, and the page is reached without scripts', async (t) => {
  const rig = await startAuthorization(t)
  const browser = new Browser(rig.url)
  const assistants = await browser.open('/oauth/assistants')
  t.true(assistants.html.includes('<form action="/oauth/sign-out"><button>'))
  const page = await browser.open('/oauth/sign-out')
  t.notRegex(page.html, /<script|src=|href=| on\w+=/)
  t.is((await browser.send(page, {})).status, 200)
  const chinese = new Browser(rig.url, { 'accept-language': 'zh-CN' })
  t.true((await chinese.open('/oauth/sign-out')).html.includes('退出并忘记此浏览器'))
})

test('a page that replaces a grant lists the channels that it keeps, to this browser alone', async (t) => {
  const rig = await startAuthorization(t)
  await addSecond(rig)
  const client = await Client.register(rig)
  const browser = new Browser(rig.url)
  t.false((await client.ask(browser)).html.includes('in this browser before'))
  const code = (await client.allowed({}, browser)).get('code') ?? ''
  const { json } = await client.redeem(code)
  const grant = await rig.tokens.verify(String(json['access_token']), RESOURCE)
  const { url } = await rig.bindings.start(grant?.grantId ?? '')
  const bound = { channel_id: SECOND, password: PASSWORD, decision: 'bind' }
  t.is((await browser.send(await browser.open(url), bound)).status, 200)

  const page = await client.ask(browser)
  const wrong = await browser.send(page, { ...ALLOWED, password: 'wrong password' })
  for (const { html } of [page, wrong]) {
    t.true(html.includes('You let it use these channels in this browser before.'))
    t.true(html.includes(`(${CHANNEL})`))
    t.true(html.includes(`&#60;b&#62;second&#60;/b&#62; (${SECOND})`))
  }
  const end = await browser.follow(await browser.send(page, ALLOWED))
  const again = await client.redeem(new URL(end.location).searchParams.get('code') ?? '')
  const next = await rig.tokens.verify(String(again.json['access_token']), RESOURCE)
  t.is((await rig.bindings.ofGrant(next?.grantId ?? '')).length, 2)
  const elsewhere = await client.ask(new Browser(rig.url))
  const other = await (await Client.register(rig)).ask(browser)
  for (const { html } of [elsewhere, other]) t.false(html.includes(CHANNEL))
})

test('two requests that wait in one new browser are both allowed', async (t) => {
  const rig = await startAuthorization(t)
  const [one, other] = [await Client.register(rig), await Client.register(rig)]
  const browser = new Browser(rig.url)
  const first = await one.ask(browser)
  const cookies = new Map(browser.cookies)
  const second = await other.ask(browser)
  const ends = [await browser.follow(await browser.send(second, ALLOWED))]
  // The cookies of an authorization are for the path of its page.
  for (const name of ['heliograph_bind', 'heliograph_resume']) {
    for (const part of [name, `${name}.sig`]) browser.cookies.set(part, cookies.get(part) ?? '')
  }
  ends.push(await browser.follow(await browser.send(first, ALLOWED)))
  for (const { location } of ends) t.regex(location, /[?&]code=/)
})

const TOKEN = 'the-gateway-token-of-this-test'
const BUDGET = { perAddress: 60, total: 1_200 }

test('visit/1: pages that ask for the gateway token bind nothing without it', async (t) => {
  const rig = await startAuthorization(t, { pages: 'token', token: TOKEN, passwordBudget: BUDGET })
  const client = await Client.register(rig)
  const browser = new Browser(rig.url)
  const page = await client.ask(browser)
  t.regex(
    page.html,
    /<label for="token">Gateway token<\/label><input id="token" [^>]*type="password"/,
  )
  for (const token of [undefined, '', 'x', `${TOKEN}x`, TOKEN.slice(1)]) {
    const more = token === undefined ? {} : { gateway_token: token }
    const refused = await browser.send(page, { ...ALLOWED, ...more })
    t.is(refused.status, 401)
    t.regex(refused.html, /role="alert"/)
    t.false(token !== undefined && token !== '' && refused.html.includes(`"${token}"`))
  }
  const assistants = await browser.open('/oauth/assistants')
  const show = { channel_id: CHANNEL, password: PASSWORD, decision: 'show' }
  t.is((await browser.send(assistants, show)).status, 401)
  t.is((await browser.send(assistants, { ...show, gateway_token: TOKEN })).status, 200)
  const end = await browser.follow(await browser.send(page, { ...ALLOWED, gateway_token: TOKEN }))
  t.regex(end.location, /[?&]code=/)
  const seen = JSON.stringify([rig.log.lines, rig.logger.lines])
  t.false(seen.includes(TOKEN))
})

test('visit/1: a wrong gateway token on a page counts like a wrong password', async (t) => {
  const rig = await startAuthorization(t, { pages: 'token', token: TOKEN, passwordBudget: BUDGET })
  const browser = new Browser(rig.url)
  const page = await browser.open('/oauth/assistants')
  const guess = (gateway_token: string) =>
    browser.send(page, { channel_id: CHANNEL, password: PASSWORD, decision: 'show', gateway_token })
  for (let at = 0; at < 60; at += 1) t.is((await guess(`guess ${at}`)).status, 401)
  t.is((await guess('guess')).status, 429)
  t.is((await guess(TOKEN)).status, 200, 'proof of the token passes every budget')
})

test('what people and clients do with grants is logged, with request and address', async (t) => {
  const rig = await startAuthorization(t)
  await addSecond(rig)
  const client = await Client.register(rig)
  const browser = new Browser(rig.url, { 'x-request-id': 'the-request' })
  const code = (await client.allowed({}, browser)).get('code') ?? ''
  const { json } = await client.redeem(code)
  const grant = await rig.tokens.verify(String(json['access_token']), RESOURCE)
  const { url } = await rig.bindings.start(grant?.grantId ?? '')
  const second = { channel_id: SECOND, password: PASSWORD, decision: 'bind' }
  await browser.send(await browser.open(url), second)
  const page = await browser.open('/oauth/assistants')
  const shown = await browser.send(page, { ...second, decision: 'show' })
  const assistant = /value="([0-9a-f]{64})"/.exec(shown.html)?.[1] ?? ''
  await browser.send(shown, { ...second, decision: 'revoke', assistant })
  const body = `token=${String(json['refresh_token'])}&client_id=${client.id}`
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'x-request-id': 'the-request',
  }
  await rig.send('/oauth/revoke', { method: 'POST', body, headers })
  const by = { requestId: 'the-request', address: '127.0.0.1' }
  const grantId = grant?.grantId ?? ''
  const [first, last] = [{ channelId: CHANNEL }, { channelId: SECOND }]
  t.deepEqual(rig.log.lines, [
    {
      level: 'info',
      fact: 'an assistant was granted a channel',
      fields: { ...by, grantId, client: assistant, ...first },
    },
    {
      level: 'info',
      fact: 'a channel was bound to an assistant',
      fields: { ...by, grantId, ...last },
    },
    {
      level: 'info',
      fact: 'an assistant lost a channel',
      fields: { ...by, client: assistant, ...last },
    },
    {
      level: 'info',
      fact: 'a grant was revoked',
      fields: { ...by, grantId, by: 'client' },
    },
  ])
  const seen = JSON.stringify(rig.log.lines)
  for (const secret of [PASSWORD, code, url, String(json['refresh_token'])]) {
    t.false(seen.includes(secret))
  }
})

test('a grant that ends because its code was used twice is logged', async (t) => {
  const rig = await startAuthorization(t)
  const client = await Client.register(rig)
  const code = (await client.allowed()).get('code') ?? ''
  for (let use = 0; use < 2; use += 1) await client.redeem(code)
  t.like(rig.log.lines.at(-1), { fact: 'a grant was revoked', fields: { by: 'reuse' } })
})

test('a failure of the server is logged, without what the request had', async (t) => {
  const rig = await startAuthorization(t)
  const client = await Client.register(rig)
  await rig.store.close()
  const path = client.authorizePath({ state: 'the-state-of-this-test' })
  const { status } = await rig.get(path, { 'x-request-id': 'the-request' })
  t.true(status >= 500)
  const line = rig.log.lines.find(({ fact }) => fact === 'the authorization server failed')
  t.like(line, { level: 'error', fields: { requestId: 'the-request', address: '127.0.0.1' } })
  t.false(JSON.stringify(line).includes('the-state-of-this-test'))
})

// The pages that people see beside consent: bind sessions, and the assistants of a channel.

import { hash } from 'node:crypto'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { CHANNEL, PASSWORD } from '#test/support/making'
import {
  BASE,
  Browser,
  Client,
  RESOURCE,
  startAuthorization,
} from '#test/support/authorization-rig'
import type { AuthorizationRig, AuthorizationRigOptions } from '#test/support/authorization-rig'
import { addChannel } from '#test/support/start-ingress'
import { changed, newChannel } from '#test/support/store-writer'

const BIND = { channel_id: CHANNEL, password: PASSWORD, decision: 'bind' }
const REVOKE = { channel_id: CHANNEL, password: PASSWORD, decision: 'revoke' }

interface Granted {
  readonly rig: AuthorizationRig
  readonly client: Client
  readonly grantId: string
}

const hashOf = (id: string): string => hash('sha256', id, 'hex')

/** The grant of a consent in this browser. */
async function grantOf(rig: AuthorizationRig, client: Client, browser?: Browser): Promise<string> {
  const code = (await client.allowed({}, browser)).get('code') ?? ''
  const token = String((await client.redeem(code)).json['access_token'])
  return (await rig.tokens.verify(token, RESOURCE))?.grantId ?? ''
}

async function granted(t: ExecutionContext, options?: AuthorizationRigOptions): Promise<Granted> {
  const rig = await startAuthorization(t, options)
  const client = await Client.register(rig)
  return { rig, client, grantId: await grantOf(rig, client) }
}

test('a bind session binds one channel, once, and the assistant sees it', async (t) => {
  const { rig, grantId } = await granted(t)
  const channelId = rig.channelId
  t.true(await rig.bindings.unbind(grantId, channelId))
  const { bindSession, url, expiresAtMs } = await rig.bindings.start(grantId)
  t.is(expiresAtMs, rig.time.nowMs() + 600_000)
  t.true(url.startsWith(`${BASE}/oauth/session/`))
  t.false(url.includes(bindSession))
  t.deepEqual(await rig.bindings.state(grantId, bindSession), { kind: 'pending' })
  const browser = new Browser(rig.url)
  const page = await browser.open(url)
  t.is(page.status, 200)
  t.true(page.html.includes('An assistant'))
  const wrong = await browser.send(page, { ...BIND, password: 'wrong password' })
  t.is(wrong.status, 404)
  t.regex(wrong.html, /role="alert"/)
  t.true(wrong.html.includes(CHANNEL))
  t.false(wrong.html.includes('wrong password'))
  t.is((await browser.send(page, { ...BIND, channel_id: 'no id' })).status, 400)
  t.deepEqual(await rig.bindings.ofGrant(grantId), [])
  const bound = await browser.send(wrong, BIND)
  t.is(bound.status, 200)
  t.deepEqual(await rig.bindings.state(grantId, bindSession), { kind: 'bound', channelId })
  t.like(await rig.bindings.ofGrant(grantId), [{ channelId }])
  t.is((await browser.open(url)).status, 410)
  t.is((await browser.send(page, BIND)).status, 410)
})

test('a page that binds a channel warns of a password that strangers try first', async (t) => {
  const { rig, grantId } = await granted(t)
  const channelId = await addChannel(rig.channels, 'ZYXWVTSRQPNMKJHGFEDCBA9870', 'iloveyou')
  const { passwordHash = '' } = (await rig.channels.credentials(channelId)) ?? {}
  await rig.store.channels.create({ ...newChannel(channelId), passwordHash })
  for (const [bind, warns] of [
    [{ ...BIND, channel_id: channelId, password: 'iloveyou' }, true],
    [BIND, false],
  ] as const) {
    const { url } = await rig.bindings.start(grantId)
    const browser = new Browser(rig.url)
    const bound = await browser.send(await browser.open(url), bind)
    t.is(bound.status, 200)
    t.is(bound.html.includes('10,000 most common'), warns)
  }
})

test('an expired or unknown bind session leads to a page that says so', async (t) => {
  const { rig, grantId } = await granted(t)
  const { bindSession, url } = await rig.bindings.start(grantId)
  const browser = new Browser(rig.url)
  const page = await browser.open(url)
  rig.time.advance(600_000)
  t.is((await browser.open(url)).status, 410)
  t.is((await browser.send(page, BIND)).status, 410)
  t.deepEqual(await rig.bindings.state(grantId, bindSession), { kind: 'expired' })
  t.deepEqual(await rig.bindings.state('another', bindSession), { kind: 'unknown' })
  for (const name of ['x', 'x'.repeat(43), '']) {
    t.is((await browser.open(`/oauth/session/${name}`)).status, 404)
  }
})

test('a person sees the assistants of a channel, and ends their use of it', async (t) => {
  const { rig, client, grantId } = await granted(t)
  const browser = new Browser(rig.url)
  const page = await browser.open('/oauth/assistants')
  t.is(page.status, 200)
  t.is((await browser.send(page, { ...BIND, password: 'wrong password' })).status, 404)
  const shown = await browser.send(page, { ...BIND, decision: 'show' })
  t.true(shown.html.includes('An assistant'))
  t.false(shown.html.includes(PASSWORD))
  const other = await browser.send(shown, { ...REVOKE, assistant: 'another' })
  t.is(other.status, 200)
  t.is((await rig.bindings.ofGrant(grantId)).length, 1)
  const ended = await browser.send(shown, { ...REVOKE, assistant: hashOf(client.id) })
  t.is(ended.status, 200)
  t.true(ended.html.includes('The assistant cannot use this channel any more.'))
  t.deepEqual(await rig.bindings.ofGrant(grantId), [])
  const none = await browser.send(page, { ...BIND, decision: 'show' })
  t.true(none.html.includes('No assistant may use this channel.'))
})

test('a grant whose last channel a person ended has no tokens any more', async (t) => {
  const rig = await startAuthorization(t)
  const client = await Client.register(rig)
  const { json } = await client.redeem((await client.allowed()).get('code') ?? '')
  const browser = new Browser(rig.url)
  const page = await browser.open('/oauth/assistants')
  await browser.send(page, { ...REVOKE, assistant: hashOf(client.id) })
  t.is(await rig.tokens.verify(String(json['access_token']), RESOURCE), undefined)
  t.is((await client.refresh(String(json['refresh_token']))).status, 400)
})

test('pages/1: ending the use of a channel ends it for all grants of the client', async (t) => {
  const { rig, client, grantId } = await granted(t)
  const again = await grantOf(rig, client)
  const other = await Client.register(rig, { client_name: 'Another assistant' })
  const stays = await grantOf(rig, other)
  t.not(again, grantId)
  const browser = new Browser(rig.url)
  const page = await browser.open('/oauth/assistants')
  const shown = await browser.send(page, { ...BIND, decision: 'show' })
  t.is(shown.html.split('type="radio"').length - 1, 2)
  t.true(shown.html.includes('allowed 2 times'))
  const ended = await browser.send(shown, { ...REVOKE, assistant: hashOf(client.id) })
  t.true(ended.html.includes('Another assistant'), 'it tells who is left')
  t.false(ended.html.includes('An assistant,'))
  for (const one of [grantId, again]) t.deepEqual(await rig.bindings.ofGrant(one), [])
  t.is((await rig.bindings.ofGrant(stays)).length, 1)
})

test('a second consent in the same browser takes the place of the first', async (t) => {
  const rig = await startAuthorization(t)
  const client = await Client.register(rig)
  const [browser, elsewhere] = [new Browser(rig.url), new Browser(rig.url)]
  const code = (await client.allowed({}, browser)).get('code') ?? ''
  const { json } = await client.redeem(code)
  const stays = await grantOf(rig, client, elsewhere)
  rig.time.advance(29 * 86_400_000)
  const second = await grantOf(rig, client, browser)
  t.is((await rig.bindings.ofGrant(second)).length, 1)
  t.is(await rig.tokens.verify(String(json['access_token']), RESOURCE), undefined)
  t.is((await client.refresh(String(json['refresh_token']))).status, 400)
  t.is((await rig.bindings.ofGrant(stays)).length, 1, 'that of another browser stays')
})

test('a binding ends when its channel gets another password', async (t) => {
  const { rig, grantId } = await granted(t)
  const { channelId } = rig
  const before = (await rig.store.channels.credentials(channelId))?.passwordHash ?? ''
  await rig.store.channels.changePassword(channelId, changed(before, 'another'))
  t.deepEqual(await rig.bindings.ofGrant(grantId), [])
})

test('pages speak the language of their reader', async (t) => {
  const { rig } = await granted(t)
  const browser = new Browser(rig.url, { 'accept-language': 'zh-CN,zh;q=0.9' })
  const page = await browser.open('/oauth/assistants')
  t.is(page.headers.get('content-language'), 'zh-CN')
  t.true(page.html.includes('<html lang="zh-CN">'))
  t.true(page.html.includes('频道密码'))
  const english = await new Browser(rig.url).open('/oauth/assistants')
  t.true(english.html.includes('Channel password'))
})

test('a page needs no script, labels its fields and loads nothing', async (t) => {
  const { rig } = await granted(t)
  const { html } = await new Browser(rig.url).open('/oauth/assistants')
  t.notRegex(html, /<script|src=|href=| on\w+=/)
  for (const [, id] of html.matchAll(/<input id="(\w+)"/g)) {
    t.true(html.includes(`<label for="${id}">`))
  }
})

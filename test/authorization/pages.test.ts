// The pages that people see beside consent: bind sessions, and the assistants of a channel.

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

const BIND = { channel_id: CHANNEL, password: PASSWORD, decision: 'bind' }
const REVOKE = { channel_id: CHANNEL, password: PASSWORD, decision: 'revoke' }

interface Granted {
  readonly rig: AuthorizationRig
  readonly grantId: string
}

async function granted(t: ExecutionContext, options?: AuthorizationRigOptions): Promise<Granted> {
  const rig = await startAuthorization(t, options)
  const client = await Client.register(rig)
  const code = (await client.allowed()).get('code') ?? ''
  const token = String((await client.redeem(code)).json['access_token'])
  return { rig, grantId: (await rig.tokens.verify(token, RESOURCE))?.grantId ?? '' }
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

test('a bind session that expired, or that nobody made, is a page that says so', async (t) => {
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

test('a person sees who may use a channel, and ends it', async (t) => {
  const { rig, grantId } = await granted(t)
  const browser = new Browser(rig.url)
  const page = await browser.open('/oauth/assistants')
  t.is(page.status, 200)
  t.is((await browser.send(page, { ...BIND, password: 'wrong password' })).status, 404)
  const shown = await browser.send(page, { ...BIND, decision: 'show' })
  t.true(shown.html.includes('An assistant'))
  t.false(shown.html.includes(PASSWORD))
  const other = await browser.send(shown, { ...REVOKE, grant: 'another' })
  t.is(other.status, 200)
  t.is((await rig.bindings.ofGrant(grantId)).length, 1)
  t.is((await browser.send(shown, { ...REVOKE, grant: grantId })).status, 200)
  t.deepEqual(await rig.bindings.ofGrant(grantId), [])
  const none = await browser.send(page, { ...BIND, decision: 'show' })
  t.true(none.html.includes('No assistant may use this channel.'))
})

test('a grant whose last channel a person ended has no tokens any more', async (t) => {
  const rig = await startAuthorization(t)
  const client = await Client.register(rig)
  const { json } = await client.redeem((await client.allowed()).get('code') ?? '')
  const grant = await rig.tokens.verify(String(json['access_token']), RESOURCE)
  const browser = new Browser(rig.url)
  const page = await browser.open('/oauth/assistants')
  await browser.send(page, { ...REVOKE, grant: grant?.grantId ?? '' })
  t.is(await rig.tokens.verify(String(json['access_token']), RESOURCE), undefined)
  t.is((await client.refresh(String(json['refresh_token']))).status, 400)
})

test('a binding ends when its channel gets another password', async (t) => {
  const { rig, grantId } = await granted(t)
  const { channelId } = rig
  const before = (await rig.store.channels.credentials(channelId))?.passwordHash ?? ''
  await rig.store.channels.changePassword(channelId, before, 'another')
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

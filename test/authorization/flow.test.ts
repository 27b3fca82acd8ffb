// Method: a client and a person with a browser go the whole way, over a real ingress and a store.

import test from 'ava'

import { CHANNEL } from '#test/support/making'
import {
  ALLOWED,
  BASE,
  Browser,
  Client,
  REDIRECT,
  RESOURCE,
  startAuthorization,
} from '#test/support/authorization-rig'

test('server/2: the server metadata names every endpoint under the configured address', async (t) => {
  const rig = await startAuthorization(t)
  const said = { 'x-forwarded-host': 'elsewhere.example', 'x-forwarded-proto': 'ftp' }
  const { json } = await rig.get('/.well-known/oauth-authorization-server', said)
  t.like(json, {
    issuer: BASE,
    authorization_endpoint: `${BASE}/oauth/authorize`,
    token_endpoint: `${BASE}/oauth/token`,
    registration_endpoint: `${BASE}/oauth/register`,
    revocation_endpoint: `${BASE}/oauth/revoke`,
    code_challenge_methods_supported: ['S256'],
    scopes_supported: ['mcp:tools', 'mcp:channels:manage'],
    response_types_supported: ['code'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  })
})

test('provider/2: a person binds a channel, and the client gets tokens for the surface alone', async (t) => {
  const rig = await startAuthorization(t)
  const client = await Client.register(rig)
  const told = await client.allowed()
  t.is(told.get('state'), 'state-1')
  t.is(told.get('iss'), BASE)
  const { status, json } = await client.redeem(told.get('code') ?? '')
  t.is(status, 200)
  t.like(json, { token_type: 'Bearer', expires_in: 900, scope: 'mcp:tools' })
  const token = String(json['access_token'])
  const grant = await rig.tokens.verify(token, RESOURCE)
  t.like(grant, { clientId: client.id, clientName: 'An assistant' })
  t.deepEqual([...(grant?.scopes ?? [])], ['mcp:tools'])
  t.is(await rig.tokens.verify(token, `${BASE}/elsewhere`), undefined)
  t.is(await rig.tokens.verify(`${token}x`, RESOURCE), undefined)
  t.like(await rig.bindings.ofGrant(grant?.grantId ?? ''), [{ channelId: CHANNEL }])
})

test('a refresh token gives new tokens of the same grant', async (t) => {
  const rig = await startAuthorization(t)
  const client = await Client.register(rig)
  const first = await client.redeem((await client.allowed()).get('code') ?? '')
  const second = await client.refresh(String(first.json['refresh_token']))
  t.is(second.status, 200)
  const grants = await Promise.all(
    [first, second].map(({ json }) => rig.tokens.verify(String(json['access_token']), RESOURCE)),
  )
  t.is(grants[0]?.grantId, grants[1]?.grantId)
  t.not(first.json['refresh_token'], second.json['refresh_token'])
})

test('a person who denies sends the client away without a grant', async (t) => {
  const rig = await startAuthorization(t)
  const client = await Client.register(rig)
  const browser = new Browser(rig.url)
  const page = await client.ask(browser)
  t.is(page.status, 200)
  t.true(page.html.includes('An assistant'))
  t.true(page.html.includes('http://127.0.0.1:4711'))
  const end = await browser.follow(await browser.send(page, { decision: 'deny' }))
  t.is(new URL(end.location).searchParams.get('error'), 'access_denied')
  t.is(new URL(end.location).searchParams.get('iss'), BASE)
})

const DOCUMENT = 'https://assistant.example/client.json'

test('a client whose id is the address of its metadata needs no registration', async (t) => {
  const fetched: string[] = []
  const metadata = {
    client_id: DOCUMENT,
    client_name: 'A documented assistant',
    redirect_uris: [REDIRECT],
    token_endpoint_auth_method: 'none',
  }
  const rig = await startAuthorization(t, {
    registration: { kind: 'off' },
    fetch: (url) => {
      fetched.push(String(url))
      return Promise.resolve(Response.json(metadata))
    },
  })
  const client = new Client(rig, DOCUMENT)
  const { json } = await client.redeem((await client.allowed()).get('code') ?? '')
  const grant = await rig.tokens.verify(String(json['access_token']), RESOURCE)
  t.like(grant, { clientId: DOCUMENT, clientName: 'A documented assistant' })
  t.deepEqual([...new Set(fetched)], [DOCUMENT])
})

test('a client whose metadata cannot be fetched, or name another client, is refused on a page', async (t) => {
  for (const fetch of [
    () => Promise.reject(new Error('not public')),
    () => Promise.resolve(Response.json({ client_id: `${DOCUMENT}x`, redirect_uris: [REDIRECT] })),
    () => Promise.resolve(new Response('', { status: 302 })),
  ]) {
    const rig = await startAuthorization(t, { fetch })
    const seen = await new Client(rig, DOCUMENT).ask(new Browser(rig.url))
    t.is(seen.status, 400)
    t.true(seen.html.includes('invalid_client'))
    t.is(seen.location, '')
  }
})

test('any node goes on with a consent that another one began', async (t) => {
  const one = await startAuthorization(t)
  const other = await startAuthorization(t, { store: one.store })
  const client = await Client.register(one)
  const elsewhere = new Client(other, client.id)
  const browser = new Browser(one.url)
  const page = await client.ask(browser)
  const there = new Browser(other.url)
  for (const [name, value] of browser.cookies) there.cookies.set(name, value)
  const end = await there.follow(await there.send(page, ALLOWED))
  const code = new URL(end.location).searchParams.get('code') ?? ''
  const { status, json } = await elsewhere.redeem(code, { code_verifier: client.verifier })
  t.is(status, 200)
  t.not(await one.tokens.verify(String(json['access_token']), RESOURCE), undefined)
})

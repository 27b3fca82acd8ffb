// Goal: who gets in, and what is refused before any tool is called.

import test from 'ava'

import type { AssistantScope } from '#domain/assistants'
import { CHANNEL, PASSWORD } from '#test/support/making'
import { BASE_URL, LIST, RESOURCE, TOKEN, callOf, refusalOf, startMcp } from '#test/support/mcp-rig'
import type { McpRig } from '#test/support/mcp-rig'

const METADATA = `${BASE_URL}/.well-known/oauth-protected-resource/mcp`
const CHALLENGE = `Bearer realm="heliograph", resource_metadata="${METADATA}", scope="mcp:tools"`
const INVALID = `${CHALLENGE}, error="invalid_token"`

interface Row {
  readonly title: string
  readonly gateway?: string
  readonly authorization: string
  readonly status: number
  readonly challenge?: string
}

const rows: readonly Row[] = [
  { title: 'an access token', authorization: `Bearer ${TOKEN}`, status: 200 },
  { title: 'its scheme in capitals', authorization: `BEARER ${TOKEN}`, status: 200 },
  { title: 'no token', authorization: '', status: 401, challenge: CHALLENGE },
  {
    title: 'an unknown token',
    authorization: 'Bearer unknown',
    status: 401,
    challenge: INVALID,
  },
  {
    title: 'admission/2: a token for another resource',
    authorization: 'Bearer elsewhere',
    status: 401,
    challenge: INVALID,
  },
  {
    title: 'another scheme',
    authorization: `Basic ${TOKEN}`,
    status: 401,
    challenge: INVALID,
  },
  {
    title: 'a token beyond 4096 characters',
    authorization: `Bearer ${'x'.repeat(4097)}`,
    status: 401,
    challenge: INVALID,
  },
  {
    title: 'the gateway token (legacy mode)',
    gateway: 'secret',
    authorization: 'Bearer secret',
    status: 200,
  },
  {
    title: 'an access token at a gateway with a token',
    gateway: 'secret',
    authorization: `Bearer ${TOKEN}`,
    status: 200,
  },
  {
    title: 'a password where no gateway token is set',
    authorization: `Bearer ${PASSWORD.replaceAll(' ', '')}`,
    status: 401,
    challenge: INVALID,
  },
]

for (const { title, gateway = '', authorization, status, challenge = null } of rows) {
  test(`${title} is answered ${status}`, async (t) => {
    const rig = await startMcp(t, { token: gateway })
    rig.tokens.issue('elsewhere', `${BASE_URL}/other`, ['mcp:tools'])
    rig.tokens.issue('x'.repeat(4097), RESOURCE, ['mcp:tools'])
    const answer = await rig.rpc(LIST, { authorization })
    t.is(answer.status, status, answer.text)
    t.is(answer.headers.get('www-authenticate'), challenge)
    if (status === 401) t.is(refusalOf(answer), 'access_token_invalid')
  })
}

test('admission/1: the 61st wrong token of an address in a minute gets 429, a missing one does not count', async (t) => {
  const rig = await startMcp(t, { passwordBudget: { perAddress: 60, total: 1200 } })
  const ask = async (authorization: string): Promise<number> =>
    (await rig.rpc(LIST, { authorization })).status
  for (let count = 0; count < 60; count += 1) {
    t.is(await ask(''), 401)
    t.is(await ask('Bearer guess'), 401)
  }
  const refused = await rig.rpc(LIST, { authorization: 'Bearer guess' })
  t.is(refused.status, 429)
  t.is(refused.headers.get('ratelimit-limit'), '60')
  t.truthy(refused.headers.get('retry-after'))
  t.is(await ask(`Bearer ${TOKEN}`), 200)
})

test('passwords in tool calls of the gateway token count in no budget', async (t) => {
  const rig = await startMcp(t, { token: 'secret', passwordBudget: { perAddress: 1, total: 1 } })
  const fields = { channel_id: CHANNEL, title: 'x', password: 'wrong donkey' }
  for (let count = 0; count < 3; count += 1) {
    const auth = { authorization: 'Bearer secret' }
    const answer = await rig.rpc(callOf('message_send', fields), auth)
    t.regex(answer.text, /channel_not_found/)
  }
})

const scopes: readonly (readonly [
  tool: string,
  held: readonly AssistantScope[],
  asked: string | undefined,
])[] = [
  ['message_send', ['mcp:tools'], undefined],
  ['channel_list', ['mcp:tools'], undefined],
  ['channel_bind_start', ['mcp:tools', 'mcp:channels:manage'], undefined],
  ['channel_bind_start', ['mcp:tools'], 'mcp:tools mcp:channels:manage'],
  ['channel_bind_status', ['mcp:tools'], 'mcp:tools mcp:channels:manage'],
  ['channel_unbind', ['mcp:tools'], 'mcp:tools mcp:channels:manage'],
  ['message_send', ['mcp:channels:manage'], 'mcp:tools mcp:channels:manage'],
  ['channel_unbind', ['mcp:channels:manage'], 'mcp:tools mcp:channels:manage'],
  ['no_such_tool', [], 'mcp:tools'],
]

for (const [tool, held, asked] of scopes) {
  test(`${tool} with the scopes "${held.join(' ')}" ${asked ? `asks for ${asked}` : 'is called'}`, async (t) => {
    const rig = await startMcp(t)
    rig.issue('limited', held)
    const answer = await rig.rpc(callOf(tool), { authorization: 'Bearer limited' })
    t.is(answer.status, asked === undefined ? 200 : 403)
    const challenge = answer.headers.get('www-authenticate')
    if (asked === undefined) t.is(challenge, null)
    else {
      t.is(refusalOf(answer), 'insufficient_scope')
      const error = `error="insufficient_scope", scope="${asked}"`
      t.is(challenge, `Bearer realm="heliograph", ${error}, resource_metadata="${METADATA}"`)
    }
  })
}

const sites: readonly (readonly [host: string, origin: string, status: number])[] = [
  ['127.0.0.1:8080', '', 200],
  ['localhost', '', 200],
  ['[::1]:8080', 'http://[::1]:6274', 200],
  ['push.example', '', 200],
  ['push.example:443', 'https://push.example', 200],
  ['localhost:8080', 'http://localhost:6274', 200],
  ['evil.example', '', 403],
  ['evil.example:8080', 'http://localhost:8080', 403],
  ['127.0.0.1.evil.example', '', 403],
  ['localhost.evil.example', '', 403],
  ['127.0.0.1:8080', 'http://evil.example', 403],
  ['127.0.0.1:8080', 'https://push.example.evil.example', 403],
  ['127.0.0.1:8080', 'null', 403],
  ['127.0.0.1:8080', 'localhost', 403],
  ['127.0.0.1:8080', 'chrome-extension://abcdef', 403],
]

for (const [host, origin, status] of sites) {
  test(`Host ${host} with Origin "${origin}" is answered ${status}`, async (t) => {
    const rig = await startMcp(t, {}, { baseUrl: 'https://push.example' })
    rig.tokens.issue('mine', 'https://push.example/mcp', ['mcp:tools'])
    const answer = await askAs(rig, { host, origin })
    t.regex(answer, new RegExp(`^HTTP/1.1 ${status} `))
    if (status === 403) t.regex(answer, /origin_not_allowed/)
  })
}

/** A raw request: fetch decides Host itself. */
async function askAs(
  rig: McpRig,
  { host, origin }: { readonly host: string; readonly origin: string },
): Promise<string> {
  const body = JSON.stringify(LIST)
  const raw = rig.connect()
  raw.socket.write(
    [
      'POST /mcp HTTP/1.1',
      `host: ${host}`,
      ...(origin === '' ? [] : [`origin: ${origin}`]),
      'authorization: Bearer mine',
      'content-type: application/json',
      'accept: application/json, text/event-stream',
      `content-length: ${body.length}`,
      '',
      body,
    ].join('\r\n'),
  )
  return raw.until(/\r\n\r\n[^]*\}/)
}

test('a token is not called wrong while the store does not answer', async (t) => {
  const rig = await startMcp(t)
  rig.tokens.failure = Object.assign(new Error('a secret'), { name: 'NoAnswer' })
  const answer = await rig.rpc(LIST)
  t.is(answer.status, 503)
  t.is(refusalOf(answer), 'server_busy')
})

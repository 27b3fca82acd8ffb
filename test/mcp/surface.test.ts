// Goal: who gets in, and what is refused before any tool is called.

import test from 'ava'

import type { AssistantScope } from '#domain/assistants'
import { CHANNEL, PASSWORD } from '#test/support/making'
import { BASE_URL, RESOURCE, TOKEN, startMcp } from '#test/support/mcp-rig'
import type { McpRig } from '#test/support/mcp-rig'
import type { Answered } from '#test/support/start-ingress'

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const METADATA = `${BASE_URL}/.well-known/oauth-protected-resource/mcp`
const CHALLENGE = `Bearer realm="heliograph", resource_metadata="${METADATA}", scope="mcp:tools"`

const callOf = (name: string, fields: object = {}): object => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: fields },
})

const codeOf = ({ text }: Answered): string | undefined => /"error_code":"(\w+)"/.exec(text)?.[1]

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
    challenge: `${CHALLENGE}, error="invalid_token"`,
  },
  {
    title: 'admission/2: a token for another resource',
    authorization: 'Bearer elsewhere',
    status: 401,
    challenge: `${CHALLENGE}, error="invalid_token"`,
  },
  {
    title: 'another scheme',
    authorization: `Basic ${TOKEN}`,
    status: 401,
    challenge: `${CHALLENGE}, error="invalid_token"`,
  },
  {
    title: 'a token beyond 4096 characters',
    authorization: `Bearer ${'x'.repeat(4097)}`,
    status: 401,
    challenge: `${CHALLENGE}, error="invalid_token"`,
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
    challenge: `${CHALLENGE}, error="invalid_token"`,
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
    if (status === 401) t.is(codeOf(answer), 'access_token_invalid')
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
      t.is(codeOf(answer), 'insufficient_scope')
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

const bodies: readonly (readonly [title: string, body: string, status: number, answer: RegExp])[] =
  [
    ['no JSON', '{', 400, /"code":-32700/],
    ['a batch', JSON.stringify([LIST]), 400, /"code":-32600.*batches are not taken/],
    ['a number', '7', 400, /"code":-32600/],
    ['no message', '{}', 400, /"error"/],
    ['an unknown method', JSON.stringify({ ...LIST, method: 'x/y' }), 200, /"code":-32601/],
    ['an unknown tool', JSON.stringify(callOf('constructor')), 200, /"error"|"isError":true/],
    ['too much', JSON.stringify({ ...LIST, params: 'x'.repeat(32_768) }), 413, /body_too_large/],
  ]

for (const [title, body, status, expected] of bodies) {
  test(`a body with ${title} is answered ${status}`, async (t) => {
    const rig = await startMcp(t)
    const answer = await rig.send('/mcp', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${TOKEN}`,
      },
      body,
    })
    t.is(answer.status, status, answer.text)
    t.regex(answer.text, expected)
  })
}

test('a whole number that a double would alter is refused, not altered', async (t) => {
  const rig = await startMcp(t)
  const fields = `{"channel_id":"${CHANNEL}","observed_at":1,"attrs":{"n":9007199254740993}}`
  const message = JSON.stringify(callOf('thing_create')).replace(
    '"arguments":{}',
    `"arguments":${fields}`,
  )
  const answer = await rig.send('/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${TOKEN}`,
    },
    body: message,
  })
  t.regex(answer.text, /validation_failed: .*attrs must hold whole numbers/)
  t.is(rig.sink.accepted.length, 0)
})

test('a notification is answered 202 without content', async (t) => {
  const rig = await startMcp(t)
  const answer = await rig.rpc({ jsonrpc: '2.0', method: 'notifications/initialized' })
  t.is(answer.status, 202)
  t.is(answer.headers.get('content-type'), null)
  t.is(answer.text, '')
})

test('GET and DELETE are answered 405: there is no session to listen to or to end', async (t) => {
  const rig = await startMcp(t)
  for (const method of ['GET', 'DELETE']) {
    const answer = await rig.send('/mcp', { method, headers: { authorization: `Bearer ${TOKEN}` } })
    t.is(answer.status, 405)
    t.is(answer.headers.get('allow'), 'POST')
  }
})

test('the metadata names the resource and its authorization server', async (t) => {
  const rig = await startMcp(t, { token: 'secret' }, { baseUrl: 'https://push.example/base' })
  for (const path of ['', '/base/mcp']) {
    const answer = await rig.get(`/.well-known/oauth-protected-resource${path}`)
    t.is(answer.status, 200)
    t.deepEqual(answer.json, {
      resource: 'https://push.example/base/mcp',
      resource_name: 'Heliograph',
      authorization_servers: ['https://push.example/base'],
      scopes_supported: ['mcp:tools', 'mcp:channels:manage'],
      bearer_methods_supported: ['header'],
    })
  }
})

test('the OpenAPI document says nothing of the surface, which describes itself', async (t) => {
  const rig = await startMcp(t)
  const { text } = await rig.get('/openapi.json')
  t.false(text.includes('/mcp'))
  t.false(text.includes('well-known'))
})

test('a store that does not answer is no wrong token', async (t) => {
  const rig = await startMcp(t)
  rig.tokens.failure = Object.assign(new Error('a secret'), { name: 'NoAnswer' })
  const answer = await rig.rpc(LIST)
  t.is(answer.status, 503)
  t.is(codeOf(answer), 'server_busy')
})

test('mcp/3: neither tokens nor passwords stand in an answer or in the log', async (t) => {
  const rig = await startMcp(t, { token: 'gateway-secret' })
  const password = 'a very secret donkey'
  const fields = { channel_id: CHANNEL, title: 7, password }
  const texts: string[] = []
  for (const token of [TOKEN, 'gateway-secret', 'wrong-secret']) {
    for (const message of [LIST, callOf('message_send', fields), [token]]) {
      const answer = await rig.rpc(message, { authorization: `Bearer ${token}` })
      texts.push(JSON.stringify([...answer.headers]), answer.text)
    }
  }
  rig.reads.thing = () => Promise.reject(new TypeError(password))
  await rig.rpc(callOf('thing_get', { channel_id: CHANNEL, thing_id: 'pump' }))
  texts.push(JSON.stringify(rig.logger.lines))
  for (const secret of [TOKEN, 'gateway-secret', 'wrong-secret', password]) {
    t.false(texts.some((text) => text.includes(secret)))
  }
  t.is(rig.logger.lines.length, 1)
})

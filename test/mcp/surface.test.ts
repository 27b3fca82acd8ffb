// Goal: the surface takes one JSON-RPC message in a request, and says where its tokens come from.

import test from 'ava'

import { CHANNEL } from '#test/support/making'
import { LIST, TOKEN, callOf, startMcp } from '#test/support/mcp-rig'

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
    const answer = await rig.rpcText(body)
    t.is(answer.status, status, answer.text)
    t.regex(answer.text, expected)
  })
}

test('a whole number that a double would alter is refused, not altered', async (t) => {
  const rig = await startMcp(t)
  const fields = `{"channel_id":"${CHANNEL}","observed_at":1,"attrs":{"n":9007199254740993}}`
  const message = JSON.stringify(callOf('thing_create'))
  const answer = await rig.rpcText(message.replace('"arguments":{}', `"arguments":${fields}`))
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
  const { text } = await rig.get('/openapi.json?styles=1')
  t.false(text.includes('/mcp'))
  t.false(text.includes('well-known'))
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

// Goal: a tool refuses what the route of the same name refuses, and tells the model what to do.

import type { CallToolResult } from '@modelcontextprotocol/client'
import test from 'ava'

import { fault } from '#domain/fault'
import { STORE_BUSY } from '#domain/store-ports'
import { CREDENTIALS, NOW_MS, PASSWORD } from '#test/support/making'
import { callOf, codeOf, startMcp, textOf } from '#test/support/mcp-rig'
import { addChannel } from '#test/support/start-ingress'
import { ID, OPERATION, OTHER_CHANNEL, THING } from './tool-samples.ts'

// The route and the tool get the same fields; the tool must refuse with the code of the route.
const refused: readonly (readonly [path: string, tool: string, fields: object])[] = [
  ['/message', 'message_send', { ...ID }],
  ['/message', 'message_send', { ...ID, title: ' ' }],
  ['/message', 'message_send', { ...ID, title: 7 }],
  ['/message', 'message_send', { ...ID, title: 'x', thing_id: 'pump' }],
  ['/message', 'message_send', { ...ID, title: 'x', thing_id: 'no such id!' }],
  ['/message', 'message_send', { ...ID, title: 'x', op_id: 'ü' }],
  ['/message', 'message_send', { ...ID, title: 'x', metadata: { a: {} } }],
  [
    '/message',
    'message_send',
    { ...ID, title: 'x', tags: Array.from({ length: 33 }, (_, at) => `tag ${at}`) },
  ],
  ['/message', 'message_send', { title: 'x' }],
  ['/message', 'message_send', { channel_id: 'nonsense', title: 'x' }],
  ['/message', 'message_send', { channel_id: OTHER_CHANNEL, title: 'x' }],
  ['/event/create', 'event_create', { ...ID }],
  ['/event/create', 'event_create', { ...ID, event_time: 'soon' }],
  ['/event/update', 'event_update', { ...ID, event_time: NOW_MS }],
  ['/event/close', 'event_close', { ...ID, event_id: 'e-1' }],
  [
    '/event/acknowledge',
    'event_acknowledge',
    { ...ID, event_id: 'e-1', event_time: 1, snooze: '8d' },
  ],
  ['/thing/create', 'thing_create', { ...ID, observed_at: -1 }],
  ['/thing/update', 'thing_update', { ...ID, observed_at: NOW_MS }],
  ['/thing/archive', 'thing_archive', { ...ID, thing_id: 'pump' }],
  ['/thing/delete', 'thing_delete', { ...THING, deleted_at: 'never' }],
  ['/thing/get', 'thing_get', { ...ID }],
  ['/thing/get', 'thing_get', { ...ID, thing_id: 'unknown' }],
  ['/thing/list', 'thing_list', { ...ID, state: 'tired' }],
  ['/thing/list', 'thing_list', { ...ID, cursor: 'mine' }],
  ['/thing/list', 'thing_list', { ...ID, limit: 201 }],
  ['/thing/query', 'things_query', { ...ID, where: { tag: 1 } }],
  ['/thing/query', 'things_query', { ...ID, cursor: 'c1' }],
]

for (const [path, name, fields] of refused) {
  test(`mcp/1: ${name} refuses ${JSON.stringify(fields).slice(0, 70)} as ${path} does`, async (t) => {
    const rig = await startMcp(t, { token: 'secret' })
    const auth = { authorization: 'Bearer secret' }
    const asked = await rig.post(path, { ...fields, password: PASSWORD }, auth)
    const expected = String(asked.json['error_code'])
    t.not(asked.status, 200)
    const byGrant = await (await rig.client()).callTool({ name, arguments: { ...fields } })
    t.true(byGrant.isError)
    t.is(codeOf(byGrant), expected)
    const byPassword = await (
      await rig.client('secret')
    ).callTool({ name, arguments: { ...fields, password: PASSWORD } })
    t.is(codeOf(byPassword), expected)
    t.is(rig.sink.accepted.length, 0)
    t.is(rig.meter.total(`refused_total{${expected}}`), 2)
  })
}

test('a tool refuses an argument that it does not know, a password among them', async (t) => {
  const rig = await startMcp(t)
  const client = await rig.client()
  for (const extra of [{ titel: 'x' }, { password: PASSWORD }, { device_key: 'd'.repeat(32) }]) {
    const fields = { ...ID, title: 'x', ...extra }
    const answer = await client.callTool({ name: 'message_send', arguments: fields })
    t.is(codeOf(answer), 'validation_failed')
    t.regex(textOf(answer), /takes channel_id, title, op_id/)
    t.false(textOf(answer).includes(PASSWORD))
  }
  t.is(rig.sink.accepted.length, 0)
})

test('a refusal tells the model the next step', async (t) => {
  const rig = await startMcp(t)
  const client = await rig.client()
  const rows: readonly (readonly [tool: string, fields: Record<string, unknown>, step: RegExp])[] =
    [
      [
        'event_list',
        { ...ID, states: 'open' },
        /^validation_failed: .*the argument states is unknown; this tool takes channel_id, .*state/,
      ],
      ['event_list', { ...ID, 'a secret!': 1 }, /: an argument is unknown; this tool takes /],
      ['channel_list', { all: true }, /the argument all is unknown; this tool takes no arguments/],
      ['message_send', ID, /^title_required: .*\. Correct the arguments and call again\.$/],
      ['thing_get', { ...ID, thing_id: 'x' }, /^entity_not_found: .* Call thing_list /],
      ['thing_get', { channel_id: OTHER_CHANNEL, thing_id: 'x' }, / Call channel_list /],
      ['send_status', { op_id: 'x' }, /^send_status_not_found: .* Use the op_id /],
      ['channel_bind_status', { bind_session: 'x' }, / Call channel_bind_start /],
    ]
  for (const [name, fields, step] of rows) {
    t.regex(textOf(await client.callTool({ name, arguments: fields })), step)
  }
  rig.sink.answer = () => fault('submission_not_accepted', { retryAfterMs: 2_500 })
  const busy = await client.callTool({ name: 'message_send', arguments: { ...ID, title: 'x' } })
  t.regex(textOf(busy), /^submission_not_accepted: .* same arguments\. Wait 3 s\.$/)
})

test('a grant reaches its own channels and their operations, and no others', async (t) => {
  const rig = await startMcp(t)
  await addChannel(rig.channels, OTHER_CHANNEL, PASSWORD)
  rig.operations.rows.set(OPERATION.opId, OPERATION)
  rig.issue('stranger', ['mcp:tools'])
  const owner = await rig.client()
  const stranger = await rig.client('stranger')
  const fields = { ...ID, title: 'x' }
  const foreign = await stranger.callTool({ name: 'message_send', arguments: fields })
  t.is(codeOf(foreign), 'channel_not_found')
  const status = { name: 'send_status', arguments: { op_id: 'op-1' } }
  t.is(codeOf(await stranger.callTool(status)), 'send_status_not_found')
  t.like((await owner.callTool(status)).structuredContent, { status: 'sent' })
  await owner.callTool({ name: 'channel_unbind', arguments: ID })
  const late = await owner.callTool({ name: 'message_send', arguments: fields })
  t.is(codeOf(late), 'channel_not_found')
  t.is(codeOf(await owner.callTool(status)), 'send_status_not_found')
})

test('a channel that an assistant gives up is logged, once and with the request', async (t) => {
  const rig = await startMcp(t)
  const headers = { 'x-request-id': 'the-request' }
  for (let time = 0; time < 2; time += 1) await rig.rpc(callOf('channel_unbind', ID), headers)
  const { grantId } = rig.grant
  const by = { requestId: 'the-request', address: '127.0.0.1' }
  const fields = { ...by, grantId, channelId: rig.channelId }
  t.deepEqual(rig.logger.lines, [{ level: 'info', fact: 'an assistant gave up a channel', fields }])
})

test('the gateway token opens nothing without the password of the channel, or a key with the scope', async (t) => {
  const rig = await startMcp(t, { token: 'secret' })
  const client = await rig.client('secret')
  const send = async (password: string): Promise<CallToolResult> =>
    client.callTool({ name: 'message_send', arguments: { ...ID, title: 'x', password } })
  t.not((await send(PASSWORD)).isError, true)
  const wrong = await send('wrong donkey')
  t.is(codeOf(wrong), 'channel_not_found')
  t.regex(textOf(wrong), /Ask the person/)
  const headers = { authorization: 'Bearer secret' }
  const made = await rig.post('/channel/key', { ...CREDENTIALS, scopes: ['send'] }, headers)
  const { key } = made.json['data'] as { readonly key: string }
  t.not((await send(key)).isError, true)
  const listing = { name: 'thing_list', arguments: { ...ID, password: key } }
  t.regex(
    textOf(await client.callTool(listing)),
    /^key_scope: .*lacks the scope read\. Keep to what/,
  )
  const unknown = await t.throwsAsync(client.callTool({ name: 'channel_list' }))
  t.regex(unknown?.message ?? '', /channel_list not found/)
})

test('a tool says nothing of a failure inside, and the operator hears of it', async (t) => {
  const rig = await startMcp(t)
  const client = await rig.client()
  const get = { name: 'thing_get', arguments: { ...ID, thing_id: 'pump' } }
  for (const [name, code] of [
    [STORE_BUSY, 'server_busy'],
    ['NoAnswer', 'server_busy'],
    ['TypeError', 'internal_error'],
  ] as const) {
    rig.reads.thing = () => Promise.reject(Object.assign(new Error('a secret'), { name }))
    const answer = await client.callTool(get)
    t.is(codeOf(answer), code)
    t.false(textOf(answer).includes('a secret'))
  }
  const told = rig.logger.lines.map(({ fact, fields }) => `${fact} ${String(fields['name'])}`)
  t.deepEqual(told, ['a tool failed NoAnswer', 'a tool failed TypeError'])
  t.false(JSON.stringify(rig.logger.lines).includes('a secret'))
})

test('a draining gateway takes no submission from a tool, and checks all the rest', async (t) => {
  let isOpen = true
  const rig = await startMcp(t, { isOpen: () => isOpen })
  const client = await rig.client()
  isOpen = false
  const send = async (fields: object): Promise<string> =>
    codeOf(await client.callTool({ name: 'message_send', arguments: { ...ID, ...fields } }))
  t.is(await send({}), 'title_required')
  t.is(await send({ title: 'x' }), 'server_busy')
  t.is(rig.sink.accepted.length, 0)
})

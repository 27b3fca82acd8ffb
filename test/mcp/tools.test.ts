// Goal: a tool does what the route of the same name does, and nothing else.

import type { Tool } from '@modelcontextprotocol/client'
import test from 'ava'

import { TESTS } from '#src/rules/limits'
import { QUERY } from '#src/schemas/queries/query-schemas'
import { NOW_MS, PASSWORD } from '#test/support/making'
import { TOKEN, codeOf, startMcp, textOf } from '#test/support/mcp-rig'
import { PUMP } from '#test/support/pump'
import { ruleOf } from '#test/support/rules'
import { CANCELLED, ENTRY, EVENT, ID, OPERATION, THING } from './tool-samples.ts'

const REVISIONS = ['2025-06-18', '2025-11-25', '2026-07-28']
const SUBMITTING = [
  'message_send',
  'event_create',
  'event_update',
  'event_close',
  'event_acknowledge',
  'thing_create',
  'thing_update',
  'thing_archive',
  'thing_delete',
]
const READING = [
  'thing_get',
  'thing_list',
  'things_query',
  'thing_series',
  'event_get',
  'event_list',
  'history',
  'send_status',
  'delivery_receipts',
]
const RULES = [
  'rule_put',
  'rule_delete',
  'message_cancel',
  'rule_list',
  'rule_test',
  'channel_mappings',
  'channel_presentation',
]
const BINDING = ['channel_list', 'channel_bind_start', 'channel_bind_status', 'channel_unbind']

for (const revision of REVISIONS) {
  test(`with revision ${revision} every tool is there and can be called`, async (t) => {
    const rig = await startMcp(t)
    rig.reads.keptThings = [PUMP]
    rig.reads.addEvent('e-1', {})
    rig.reads.receipted = { entry: ENTRY, subscribers: [] }
    for (const operation of [OPERATION, CANCELLED]) {
      rig.operations.rows.set(operation.opId, operation)
    }
    const client = await rig.client(TOKEN, revision)
    const { tools } = await client.listTools()
    t.deepEqual(
      tools.map(({ name }) => name),
      [...SUBMITTING, ...READING, ...RULES, ...BINDING],
    )
    const calls: readonly (readonly [name: string, fields: Record<string, unknown>])[] = [
      ['message_send', { ...ID, title: 'x' }],
      ['event_create', { ...ID, event_time: NOW_MS }],
      ['event_update', EVENT],
      ['event_close', { ...EVENT, ended_at: NOW_MS }],
      ['event_acknowledge', { ...EVENT, by: 'anna' }],
      ['thing_create', { ...ID, observed_at: NOW_MS, attrs: { rpm: 900 } }],
      ['thing_update', { ...THING, attrs: { rpm: null } }],
      ['thing_archive', THING],
      ['thing_delete', { ...THING, deleted_at: NOW_MS }],
      ['thing_get', { ...ID, thing_id: 'pump' }],
      ['thing_list', { ...ID, limit: 3 }],
      ['things_query', { ...ID, where: { attr: 'rpm', above: 1 }, group_by: ['state'] }],
      ['thing_series', { ...ID, thing_id: 'pump', from: NOW_MS }],
      ['event_get', { ...ID, event_id: 'e-1' }],
      ['event_list', { ...ID, state: 'open', thing_id: 'pump' }],
      ['history', { ...ID, since: NOW_MS, model: 'message', limit: 3 }],
      ['send_status', { op_id: 'op-1' }],
      ['delivery_receipts', { ...ID, entity_id: 'e-1' }],
      ['rule_put', { ...ID, rule_id: 'r', rule: ruleOf() }],
      ['rule_delete', { ...ID, rule_id: 'r' }],
      ['rule_list', { ...ID, limit: 3 }],
      ['rule_test', { ...ID, rule: ruleOf() }],
      ['message_cancel', { ...ID, op_id: CANCELLED.opId }],
      ['channel_mappings', { ...ID, mappings: [{ topic: 'a/+b', thing: '{b}' }] }],
      ['channel_list', {}],
      ['channel_bind_start', {}],
      ['channel_bind_status', { bind_session: 'session-1' }],
      ['channel_unbind', ID],
    ]
    for (const [name, fields] of calls) {
      // The client checks what comes back against the output schema that it was told.
      const answer = await client.callTool({ name, arguments: fields })
      t.not(answer.isError, true, textOf(answer))
      t.deepEqual(JSON.parse(textOf(answer)), answer.structuredContent)
      t.is(rig.meter.total(`tool_calls_total{${name}}`), 1)
    }
    t.deepEqual(
      rig.sink.accepted.map(({ model, action }) => `${model}_${action}`),
      [...SUBMITTING, 'rule_put', 'rule_delete'],
    )
  })
}

const hints: Readonly<Record<string, readonly [reads: boolean, ends: boolean, sets: boolean]>> = {
  message_send: [false, false, false],
  event_create: [false, false, false],
  event_update: [false, false, true],
  event_close: [false, true, true],
  event_acknowledge: [false, false, true],
  thing_create: [false, false, false],
  thing_update: [false, false, true],
  thing_archive: [false, false, true],
  thing_delete: [false, true, true],
  rule_put: [false, false, true],
  rule_delete: [false, true, true],
  message_cancel: [false, true, true],
  channel_mappings: [false, true, true],
  channel_presentation: [false, true, true],
  channel_bind_start: [false, false, false],
  channel_unbind: [false, true, true],
}

test('a tool declares its effects on the world', async (t) => {
  const rig = await startMcp(t)
  const { tools } = await (await rig.client()).listTools()
  for (const { name, title, description, annotations } of tools) {
    const [reads, ends, sets] = hints[name] ?? [true]
    t.is(annotations?.readOnlyHint, reads, name)
    t.is(annotations?.destructiveHint, ends, name)
    t.is(annotations?.idempotentHint, sets, name)
    t.truthy(title)
    t.truthy(description)
  }
})

test('assistants are told of every form of a condition: they have no other document', async (t) => {
  const rig = await startMcp(t)
  const { tools } = await (await rig.client()).listTools()
  const describedIn = (tool: string): string =>
    tools.find(({ name }) => name === tool)?.description ?? ''
  for (const form of Object.keys(QUERY.where.properties)) {
    t.true(describedIn('things_query').includes(`"${form}"`), form)
  }
  for (const form of [...TESTS, 'silent', 'all', 'any', 'not', 'cel']) {
    t.true(describedIn('rule_put').includes(`"${form}"`), form)
  }
})

const OPENINGS = [
  { opening: 'a grant', token: TOKEN, names: [...SUBMITTING, ...READING, ...RULES, ...BINDING] },
  { opening: 'the gateway token', token: 'secret', names: [...SUBMITTING, ...READING, ...RULES] },
] as const

for (const { opening, token, names } of OPENINGS) {
  test(`with ${opening} the input schemas are closed and ask for a password or not`, async (t) => {
    const rig = await startMcp(t, { token: 'secret' })
    const { tools } = await (await rig.client(token)).listTools()
    t.deepEqual(
      tools.map(({ name }) => name),
      names,
    )
    for (const { name, inputSchema } of tools as readonly Tool[]) {
      const { properties = {}, required = [], ...rest } = inputSchema
      t.is(rest['additionalProperties'], false, name)
      const asksForChannel = 'channel_id' in properties
      t.is('password' in properties, token === 'secret' && asksForChannel, name)
      t.is(required.includes('password'), 'password' in properties, name)
      t.false('device_key' in properties, name)
      t.notRegex(JSON.stringify(inputSchema), /"pattern"|"null"|\$ref|anyOf/, name)
    }
  })
}

test('an assistant, which has no clock, learns the time that its Events and readings need', async (t) => {
  const rig = await startMcp(t)
  const client = await rig.client()
  t.regex(client.getInstructions() ?? '', /channel_list, which tells the present time/)
  const listed = await client.callTool({ name: 'channel_list', arguments: {} })
  t.like(listed.structuredContent, { now: NOW_MS })
})

test('an op_id means the same to a tool as to a route', async (t) => {
  const rig = await startMcp(t)
  const client = await rig.client()
  const fields = { ...ID, title: 'x', op_id: 'once' }
  const sent = await rig.post('/message', { ...fields, password: PASSWORD })
  const again = await client.callTool({ name: 'message_send', arguments: fields })
  t.deepEqual(again.structuredContent, sent.json['data'])
  const other = { ...fields, title: 'y' }
  const conflict = await client.callTool({ name: 'message_send', arguments: other })
  t.is(codeOf(conflict), 'op_id_payload_conflict')
})

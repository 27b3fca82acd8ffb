// Goal: the AsyncAPI document says what frames look like, as both sides write them.
// Method: frames of every kind are written and held against the schema of their message.

import { Ajv2020 } from 'ajv/dist/2020.js'
import test from 'ava'

import { parseDeviceKey } from '#domain/identity'
import { isRecord } from '#domain/record'
import { asyncApiDocument } from '#src/schemas/document/asyncapi'
import { encodeDelivery, encodeDeviceFrame } from '#src/schemas/frames'
import type { DeviceFrame, GatewayNotice } from '#src/schemas/frames'
import { DEVICE_FRAMES, GATEWAY_FRAMES, encodeNotice } from '#src/schemas/session/frame-schemas'
import { channel, entry } from '#test/support/session-words'

const document = asyncApiDocument('1.2.3')
const A = channel('A')
const position = { channelId: A, channelName: 'a', headSeq: 9, cursor: 3 }

const NOTICES: readonly GatewayNotice[] = [
  {
    kind: 'welcome',
    sessionId: 's',
    serverTime: 1,
    heartbeatMs: 2,
    idleMs: 3,
    maxFrameBytes: 4,
    channels: [position],
  },
  { kind: 'caught-up', channelId: A, seq: 3 },
  { kind: 'gap', channelId: A, from: 1, to: 2, reason: 'retention', restart: false },
  { kind: 'gap', channelId: A, from: 1, to: 2, reason: 'reset', restart: true },
  { kind: 'subscribed', ...position },
  { kind: 'unsubscribed', channelId: A, reason: 'channel_deleted' },
  { kind: 'ping', mark: undefined },
  { kind: 'pong', mark: 'x' },
  { kind: 'pong', mark: 7 },
  { kind: 'error', code: 'rate_limited', message: 'm' },
  { kind: 'goaway', reason: 'replaced', retryAfterMs: undefined },
  { kind: 'goaway', reason: 'busy', retryAfterMs: 0 },
]

const deviceKey = parseDeviceKey('d'.repeat(32)) as NonNullable<ReturnType<typeof parseDeviceKey>>

const DEVICE: readonly DeviceFrame[] = [
  { kind: 'hello', deviceKey, gatewayToken: undefined, cursors: new Map(), client: undefined },
  { kind: 'hello', deviceKey, gatewayToken: 't', cursors: new Map([[A, 7]]), client: 'c' },
  { kind: 'ack', channelId: A, seq: 0 },
  { kind: 'ping', mark: 17 },
  { kind: 'pong', mark: undefined },
]

const at = (...names: readonly string[]): Readonly<Record<string, unknown>> =>
  names.reduce<Readonly<Record<string, unknown>>>((node, name) => {
    const next = node[name]
    if (!isRecord(next)) throw new Error(`nothing at ${names.join(' ')}`)
    return next
  }, document)

const ajv = new Ajv2020({ strict: false, formats: { int64: true, double: true } })
ajv.addKeyword('components')

/** The check of a frame by the message of its type. */
function fits(side: 'Device' | 'Gateway', text: string): boolean {
  const frame = JSON.parse(text) as { readonly type: string }
  const type = frame.type
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
  const payload = at('components', 'messages', `${side}${type}`, 'payload')
  return ajv.validate({ ...payload, components: document['components'] }, frame)
}

test('every frame that is written is one of the document', (t) => {
  for (const notice of NOTICES) t.true(fits('Gateway', encodeNotice(notice)), notice.kind)
  for (const frame of DEVICE) t.true(fits('Device', encodeDeviceFrame(frame)), frame.kind)
  const thing = { ...entry('A', 3), state: 'active', rev: 2 }
  t.true(fits('Gateway', encodeDelivery(entry('A', 3), 'live')))
  t.true(fits('Gateway', encodeDelivery(thing, 'replay')))
})

test('a delivery has no member that the document does not name, and none in another order', (t) => {
  const thing = { ...entry('A', 3), state: 'active', rev: 2 }
  const written = Object.keys(JSON.parse(encodeDelivery(thing, 'replay')) as object)
  const { members } = GATEWAY_FRAMES.deliver
  t.deepEqual(written.toSorted(), ['type', ...Object.keys(members.properties)].toSorted())
})

test('a frame without one of its members is none of the document', (t) => {
  t.false(fits('Device', '{"type":"ack","seq":1}'))
  t.false(fits('Device', '{"type":"hello","device_key":"short"}'))
  t.false(fits('Gateway', `{"type":"gap","channel_id":"${A}","from":1,"to":2,"reason":"other"}`))
})

test('every frame is a message of the one operation of its side, and every reference resolves', (t) => {
  const references = JSON.stringify(document).match(/(?<="\$ref":"#\/)[^"]+/g) ?? []
  for (const reference of references) t.notThrows(() => at(...reference.split('/')), reference)
  const messagesOf = (operation: string): number => {
    const { messages } = at('operations', operation)
    return Array.isArray(messages) ? messages.length : 0
  }
  t.is(messagesOf('takeFrames'), Object.keys(DEVICE_FRAMES).length)
  t.is(messagesOf('sendFrames'), Object.keys(GATEWAY_FRAMES).length)
})

test('a mark is a text or a number to generators, which pass over conditions', (t) => {
  t.notRegex(JSON.stringify(at('components', 'schemas')), /"(if|else)":/)
})

test('every object of a frame has a name, by which generators call its type', (t) => {
  const objects = (node: unknown): readonly object[] =>
    typeof node === 'object' && node !== null
      ? [...('properties' in node ? [node] : []), ...Object.values(node).flatMap(objects)]
      : []
  const schemas = at('components', 'schemas')
  for (const [name, schema] of Object.entries(schemas)) t.is(objects(schema).length, 1, name)
  for (const [name, message] of Object.entries(at('components', 'messages'))) {
    t.like(message, { payload: { $ref: `#/components/schemas/${name}` } })
  }
})

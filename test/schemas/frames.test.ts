import test from 'ava'

import type { FaultCode } from '#domain/fault'
import { parseChannelId, parseDeviceKey } from '#domain/identity'
import { encodeDelivery, encodeDeviceFrame } from '#src/schemas/frames'
import type { DeviceFrame, GatewayNotice } from '#src/schemas/frames'
import { encodeNotice } from '#src/schemas/session/frame-schemas'
import { readDeviceFrame, readGatewayFrame } from '#src/schemas/read-frames'
import { channel, entry } from '#test/support/session-words'

const A = channel('A')
const deviceKey = parseDeviceKey('d'.repeat(32)) ?? never()

function never(): never {
  throw new Error('bad id')
}

test('a frame of a device is read as it was written', (t) => {
  const frames: readonly DeviceFrame[] = [
    { kind: 'hello', deviceKey, gatewayToken: undefined, cursors: new Map(), client: undefined },
    { kind: 'hello', deviceKey, gatewayToken: 't', cursors: new Map([[A, 7]]), client: 'c' },
    { kind: 'ack', channelId: A, seq: 0 },
    { kind: 'ping', mark: 17 },
    { kind: 'pong', mark: undefined },
  ]
  for (const frame of frames) t.deepEqual(readDeviceFrame(encodeDeviceFrame(frame)), frame)
})

test('a notice of the gateway is read as it was written', (t) => {
  const standing = { channelId: A, channelName: 'näme "1"', headSeq: 9, cursor: 3 }
  const notices: readonly GatewayNotice[] = [
    {
      kind: 'welcome',
      sessionId: 's',
      serverTime: 1,
      heartbeatMs: 2,
      idleMs: 3,
      maxFrameBytes: 4,
      channels: [standing],
    },
    { kind: 'caught-up', channelId: A, seq: 3 },
    { kind: 'gap', channelId: A, from: 1, to: 2, reason: 'retention', restart: false },
    { kind: 'gap', channelId: A, from: 1, to: 2, reason: 'reset', restart: true },
    { kind: 'subscribed', ...standing },
    { kind: 'unsubscribed', channelId: A, reason: 'channel_deleted' },
    { kind: 'unsubscribed', channelId: A, reason: 'unsubscribed' },
    { kind: 'ping', mark: undefined },
    { kind: 'pong', mark: 'x' },
    { kind: 'error', code: 'rate_limited', message: 'm' },
    { kind: 'goaway', reason: 'replaced', retryAfterMs: undefined },
    { kind: 'goaway', reason: 'busy', retryAfterMs: 0 },
  ]
  for (const notice of notices) t.deepEqual(readGatewayFrame(encodeNotice(notice)), notice)
})

test('a delivery is read as it was written, with its payload as JSON', (t) => {
  const message = readGatewayFrame(encodeDelivery(entry('A', 3), 'live'))
  t.like(message, { kind: 'deliver', seq: 3, replay: false, payload: { title: 'a' } })
  t.is(message?.kind === 'deliver' ? message.state : '', undefined)
  const thing = { ...entry('A', 3), state: 'active', rev: 2 }
  t.like(readGatewayFrame(encodeDelivery(thing, 'replay')), {
    state: 'active',
    rev: 2,
    replay: true,
  })
})

test('a text that is no frame of a device is refused with the reason', (t) => {
  const hello = { type: 'hello', device_key: 'd'.repeat(32) }
  const cursors = (count: number): object =>
    Object.fromEntries(
      Array.from({ length: count }, (_, at) => [at.toString().padStart(25, '0') + '0', 1]),
    )
  const rows: readonly (readonly [frame: unknown, code: FaultCode, field?: string])[] = [
    [null, 'invalid_json_data'],
    [[], 'invalid_json_data'],
    [7, 'invalid_json_data'],
    [{}, 'validation_failed', 'type'],
    [{ type: 'Hello' }, 'validation_failed', 'type'],
    [{ type: 'hello' }, 'invalid_json_data', 'device_key'],
    [{ type: 'hello', device_key: 7 }, 'invalid_json_data', 'device_key'],
    [{ type: 'hello', device_key: 'd'.repeat(33) }, 'validation_failed', 'device_key'],
    [{ ...hello, gateway_token: 7 }, 'validation_failed', 'gateway_token'],
    [{ ...hello, gateway_token: 'x'.repeat(4_097) }, 'validation_failed', 'gateway_token'],
    [{ ...hello, protocol: 'heliograph.v2' }, 'validation_failed', 'protocol'],
    [{ ...hello, cursors: [1] }, 'validation_failed', 'cursors'],
    [{ ...hello, cursors: { [A]: '1' } }, 'validation_failed', 'cursors'],
    [{ ...hello, cursors: { [A]: 2 ** 53 } }, 'validation_failed', 'cursors'],
    [{ ...hello, cursors: cursors(1_001) }, 'validation_failed', 'cursors'],
    [{ type: 'ack', channel_id: A }, 'validation_failed', 'seq'],
    [{ type: 'ack', seq: 1 }, 'invalid_channel_id', 'channel_id'],
  ]
  for (const [frame, code, field] of rows) {
    const read = readDeviceFrame(JSON.stringify(frame))
    t.is(read.kind === 'fault' ? read.code : undefined, code, JSON.stringify(frame).slice(0, 80))
    t.is(read.kind === 'fault' ? read.field : '', field)
  }
  const atLimits = { ...hello, gateway_token: 'x'.repeat(4_096) }
  t.is(readDeviceFrame(JSON.stringify(atLimits)).kind, 'hello')
  const many = { ...hello, cursors: cursors(1_000) }
  t.is(readDeviceFrame(JSON.stringify(many)).kind, 'hello')
})

test('a channel in a frame may be spelled in every way that is allowed', (t) => {
  const spelled = `${A.slice(0, 4).toLowerCase()}-${A.slice(4)}`
  t.is(parseChannelId(spelled), A)
  const read = readDeviceFrame(JSON.stringify({ type: 'ack', channel_id: spelled, seq: 1 }))
  t.deepEqual(read, { kind: 'ack', channelId: A, seq: 1 })
})

test("a fault never repeats the caller's text", (t) => {
  const read = readDeviceFrame(JSON.stringify({ type: 'hello', device_key: 'SECRET' }))
  t.false(JSON.stringify(read).includes('SECRET'))
})

test('a device ignores frames that it does not know or cannot use', (t) => {
  const texts = [
    '',
    '[]',
    '{"type":"dance"}',
    '{"type":"deliver"}',
    '{"type":"caught_up","channel_id":"x","seq":1}',
    '{"type":"welcome","session_id":"s"}',
    encodeDelivery(entry('A', 3), 'live').replace('"send"', '"dance"'),
    encodeDelivery(entry('A', 3), 'live')
      .replace('"payload":{', '"payload":[{')
      .replace(/}$/, ']}'),
  ]
  for (const text of texts) t.is(readGatewayFrame(text), undefined, text)
})

test('a goaway and an error of a later version are still understood', (t) => {
  t.like(readGatewayFrame('{"type":"goaway","reason":"new","retry_after_ms":5}'), {
    kind: 'goaway',
    retryAfterMs: 5,
  })
  t.like(readGatewayFrame('{"type":"error","code":"new","message":"m"}'), {
    code: 'new',
  })
})

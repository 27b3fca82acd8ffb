// Goal: Sparkplug B edge nodes are Things whose metrics are read by birth, alias and datatype, and
// what a gateway missed it asks for again.
// Method: publishes of one connection in their order, encoded by the library's own encoder.

import test from 'ava'

import { isFault } from '#domain/fault'
import { translate } from '#src/mqtt/devices/translate'
import { ARRIVED, connectionOf, publishOf, refusalOf, rowOf } from '#test/support/device-publish'
import { sparkplugBytes } from '#test/support/sparkplug'
import type { SentMetric } from '#test/support/sparkplug'

const T = 1_772_400_000_000
const EDGE = 'g:edge'
const boolean = (value: boolean) => ({ case: 'booleanValue', value })
const whole = (value: number) => ({ case: 'intValue', value })
const long = (value: bigint) => ({ case: 'longValue', value })
const float = (value: number) => ({ case: 'floatValue', value })

/** One connection: each publish is given as its topic's word and device, metrics and seq. */
function connection() {
  const one = connectionOf()
  const publish = (topic: string, payload: Uint8Array) => {
    const outcome = translate(publishOf(`spBv1.0/${topic}`, payload), one)
    if (outcome === undefined || isFault(outcome)) return { rows: outcome?.field, asks: [] }
    const refusal = refusalOf(outcome.wishes)
    return { rows: refusal ?? outcome.wishes.map(rowOf), asks: outcome.replies }
  }
  return (word: string, metrics: readonly SentMetric[] = [], seq?: number, device = '') => {
    const times = { timestamp: BigInt(T), ...(seq !== undefined && { seq: BigInt(seq) }) }
    const topic = `g/${word}/edge${device === '' ? '' : `/${device}`}`
    return publish(topic, sparkplugBytes({ ...times, metrics }))
  }
}

const BD_SEQ: SentMetric = { name: 'bdSeq', datatype: 4, value: long(7n) }
const REBIRTH: SentMetric = { name: 'Node Control/Rebirth', datatype: 11, value: boolean(false) }
const BIRTH: readonly SentMetric[] = [
  BD_SEQ,
  REBIRTH,
  { name: 'Supply Voltage', alias: 1n, datatype: 9, value: float(12.1) },
]
const born = { update: EDGE, title: 'edge', attrs: { online: true }, at: T }

test('a birth names the metrics, and data by alias alone is read by it', (t) => {
  const send = connection()
  t.deepEqual(send('NBIRTH', BIRTH, 0).rows, [
    born,
    { update: EDGE, attrs: { 'Supply Voltage': 12.1 }, at: T },
  ])
  const data = send('NDATA', [{ alias: 1n, value: float(11.9) }], 1)
  t.deepEqual(data, {
    rows: [{ update: EDGE, attrs: { 'Supply Voltage': 11.9 }, at: T }],
    asks: [],
  })
})

test('devices are Things of their own, and their birth adds to the aliases of the node', (t) => {
  const send = connection()
  send('NBIRTH', BIRTH, 0)
  const inputs: readonly SentMetric[] = [
    { name: 'Inputs/A', alias: 2n, datatype: 11, value: boolean(true) },
    { name: 'Inputs/C', alias: 3n, datatype: 11, value: boolean(true) },
  ]
  const thing = `${EDGE}:Pibrella`
  t.deepEqual(send('DBIRTH', inputs, 1, 'Pibrella').rows, [
    { update: thing, title: 'Pibrella', attrs: { online: true }, at: T },
    { update: thing, attrs: { 'Inputs/A': true, 'Inputs/C': true }, at: T },
  ])
  const data = send('DDATA', [{ alias: 3n, value: boolean(false) }], 2, 'Pibrella')
  t.deepEqual(data, { rows: [{ update: thing, attrs: { 'Inputs/C': false }, at: T }], asks: [] })
  t.deepEqual(send('DDEATH', [], 3, 'Pibrella').rows, [
    { update: thing, attrs: { online: false }, at: T },
  ])
})

test('sparkplug/1: a gap in the sequence asks once for the births, and its data counts', (t) => {
  const send = connection()
  send('NBIRTH', BIRTH, 0)
  const late = send('NDATA', [{ alias: 1n, value: float(11.5) }], 2)
  t.deepEqual(late.rows, [{ update: EDGE, attrs: { 'Supply Voltage': 11.5 }, at: T }])
  t.deepEqual(
    late.asks.map(({ topic }) => topic),
    ['spBv1.0/g/NCMD/edge'],
  )
  const asked = sparkplugBytes({
    timestamp: BigInt(ARRIVED),
    metrics: [{ ...REBIRTH, timestamp: BigInt(ARRIVED), value: boolean(true) }],
  })
  t.deepEqual(Buffer.from(late.asks[0]?.payload ?? []), Buffer.from(asked))
  t.deepEqual(send('NDATA', [], 9).asks, [])
  t.deepEqual(send('NBIRTH', BIRTH, 0).asks, [])
  t.deepEqual(send('NDATA', [], 1).asks, [])
  t.is(send('NDATA', [], 1).asks.length, 1)
})

test('sparkplug/1: a birth that never comes is asked for again when the sequence begins anew', (t) => {
  const send = connection()
  t.is(send('NDATA', [], 255).asks.length, 1)
  t.deepEqual(send('NDATA', [], 5).asks, [])
  t.is(send('NDATA', [], 0).asks.length, 1)
})

test('the sequence goes from 255 to 0', (t) => {
  const send = connection()
  send('NBIRTH', BIRTH, 255)
  t.deepEqual(send('NDATA', [], 0).asks, [])
})

test('sparkplug/1: an alias that no birth has told asks, and named metrics beside it count', (t) => {
  const send = connection()
  send('NBIRTH', BIRTH, 0)
  const data = [
    { alias: 9n, value: whole(1) },
    { name: 'New', value: whole(2) },
  ]
  const { rows, asks } = send('NDATA', data, 1)
  t.deepEqual(rows, [{ update: EDGE, attrs: { New: 2 }, at: T }])
  t.is(asks.length, 1)
})

test('sparkplug/2: the death of a node takes its devices along, at its arrival', (t) => {
  const send = connection()
  send('NBIRTH', BIRTH, 0)
  send('DBIRTH', [], 1, 'a')
  t.deepEqual(send('NDEATH', [{ ...BD_SEQ, value: long(6n) }]).rows, [])
  t.deepEqual(send('NDEATH', [BD_SEQ]).rows, [
    { update: EDGE, attrs: { online: false } },
    { update: `${EDGE}:a`, attrs: { online: false } },
  ])
})

test('each metric counts at its own time, historical ones too, and a null one is removed', (t) => {
  const send = connection()
  const { rows } = send(
    'NBIRTH',
    [
      {
        name: 'a',
        timestamp: BigInt(T - 60_000),
        isHistorical: true,
        datatype: 3,
        value: whole(1),
      },
      { name: 'b', timestamp: BigInt(T), datatype: 3, isNull: true },
      {
        name: 'c',
        timestamp: BigInt(T - 60_000),
        datatype: 12,
        value: { case: 'stringValue', value: 'x' },
      },
    ],
    0,
  )
  t.deepEqual(rows, [
    born,
    { update: EDGE, attrs: { a: 1, c: 'x' }, at: T - 60_000 },
    { update: EDGE, attrs: { b: null }, at: T },
  ])
})

const values: readonly (readonly [
  datatype: number,
  value: SentMetric['value'],
  expected: unknown,
])[] = [
  [1, whole(0xff_ff_ff_85), -123],
  [1, whole(0x85), -123],
  [2, whole(0xff_ff), -1],
  [3, whole(0xff_ff_ff_ff), -1],
  [4, long(2n ** 64n - 5n), -5],
  [4, long(2n ** 63n - 1n), '9223372036854775807'],
  [5, whole(200), 200],
  [7, whole(0xff_ff_ff_ff), 4_294_967_295],
  [7, long(4_294_967_295n), 4_294_967_295],
  [8, long(2n ** 64n - 1n), '18446744073709551615'],
  [9, float(12.1), 12.1],
  [9, float(Number.NaN), null],
  [10, { case: 'doubleValue', value: 0.1 }, 0.1],
  [10, { case: 'doubleValue', value: Infinity }, null],
  [11, boolean(true), true],
  [13, long(BigInt(T)), T],
  [14, { case: 'stringValue', value: 'text' }, 'text'],
]

for (const [datatype, value, expected] of values) {
  test(`a metric of datatype ${datatype} with ${value?.case} ${String(value?.value)} is ${String(expected)}`, (t) => {
    const metric = { name: 'm', datatype, ...(value !== undefined && { value }) }
    const { rows } = connection()('NBIRTH', [metric], 0)
    t.deepEqual(rows, [born, { update: EDGE, attrs: { m: expected }, at: T }])
  })
}

test('data without a datatype is read by that of the birth, by name and by alias', (t) => {
  const send = connection()
  send('NBIRTH', [{ name: 'm', alias: 4n, datatype: 1, value: whole(1) }], 0)
  const byName = send('NDATA', [{ name: 'm', value: whole(0xff) }], 1)
  t.deepEqual(byName.rows, [{ update: EDGE, attrs: { m: -1 }, at: T }])
  const byAlias = send('NDATA', [{ alias: 4n, value: whole(0xfe) }], 2)
  t.deepEqual(byAlias.rows, [{ update: EDGE, attrs: { m: -2 }, at: T }])
})

test('values of kinds that are not kept leave nothing behind', (t) => {
  const bytes = { case: 'bytesValue', value: new Uint8Array([1]) }
  t.deepEqual(connection()('NBIRTH', [{ name: 'm', datatype: 17, value: bytes }], 0).rows, [born])
})

const payloads: readonly (readonly [what: string, bytes: Uint8Array])[] = [
  ['text', Buffer.from('{"metrics":[]}')],
  ['a metric that is cut short', Buffer.from([0x12, 0x05, 0x0a])],
  ['a name that is no UTF-8', Buffer.from([0x12, 0x03, 0x0a, 0x01, 0xff])],
  ['more than 10,000 metrics', Buffer.from('1200'.repeat(10_001), 'hex')],
  ['a float that is cut short', Buffer.from([0x12, 0x03, 0x65, 0x00, 0x00])],
]

for (const [what, bytes] of payloads) {
  test(`a payload of ${what} is refused`, (t) => {
    const outcome = translate(publishOf('spBv1.0/g/NDATA/edge', bytes), connectionOf())
    t.true(isFault(outcome))
    t.is(isFault(outcome) ? outcome.field : '', 'payload')
  })
}

test('a payload of 10,000 metrics is taken, and names with spaces have ids of their own', (t) => {
  const topic = 'spBv1.0/Sparkplug B Devices/NBIRTH/Raspberry Pi'
  const many = translate(
    publishOf(topic, Buffer.from('1200'.repeat(10_000), 'hex')),
    connectionOf(),
  )
  t.deepEqual(isFault(many) ? many : many?.wishes.map(({ fields }) => fields['title']), [
    'Raspberry Pi',
  ])
})

test('a host says by JSON whether it is there', (t) => {
  const state = (payload: string) =>
    translate(publishOf('spBv1.0/STATE/host1', Buffer.from(payload)), connectionOf())
  const outcome = state('{"online":true,"timestamp":1768114759262}')
  if (outcome === undefined || isFault(outcome)) return t.fail()
  t.deepEqual(outcome.wishes.map(rowOf), [
    { update: 'host1', attrs: { online: true }, at: 1_768_114_759_262 },
  ])
  t.true(isFault(state('{"online":1}')))
  return undefined
})

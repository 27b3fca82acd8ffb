// Goal: the gateway encodes an entry once, however many subscribers get it.
// Method: subscribers on every carrier, and an entry whose payload counts how often it is read.

import test from 'ava'

import { SUBSCRIBERS_MAX } from '#domain/channel'
import type { CarrierName } from '#domain/carrier'
import type { FeedEntry } from '#domain/feed'
import { Arriving } from '#src/doors/arriving'
import { FramedCarrier } from '#src/transports/carriers/framing'
import { frameOf } from '#src/transports/channel-listeners'
import { WINDOW_ENTRIES_MAX } from '#src/transports/signals'
import { entry } from '#test/support/session-words'
import { A, Rig, deviceIdOf, openOther, welcomedRig } from '#test/support/sessions-rig'
import { until } from '#test/support/until'

const CARRIERS: readonly CarrierName[] = ['wss', 'tcp', 'quic']
const ENTRIES = 10

/** Its text is made once for each reading of its payload. */
function counted(seq: number): { readonly entry: FeedEntry; readonly readings: () => number } {
  let readings = 0
  const made = entry('A', seq)
  const watched = {
    ...made,
    get payload() {
      readings += 1
      return made.payload
    },
  }
  return { entry: watched, readings: () => readings }
}

interface Device {
  readonly has: () => number
}

/** A device whose carrier has frames of its own, or cuts a stream of bytes into them. */
function join(rig: Rig, number: number): Device {
  const key = number.toString(16).padStart(32, '0')
  rig.store.subscribe(deviceIdOf(key), A)
  const text = JSON.stringify({ type: 'hello', device_key: key })
  const kind = CARRIERS[number % CARRIERS.length] ?? 'wss'
  if (kind === 'wss') {
    const carrier = rig.open()
    carrier.handle?.receive(text)
    return { has: () => deliveriesIn(carrier.sent.join('')) }
  }
  const bytes: Buffer[] = []
  const stream = { held: 0, write: (more: Buffer) => bytes.push(more), end() {}, cut() {} }
  const framed = new FramedCarrier(
    { kind, address: '192.0.2.1', openingMs: 0 },
    stream,
    new Arriving(),
  )
  framed.begin((carrier) => {
    const handle = rig.sessions.open(carrier)
    queueMicrotask(() => handle.receive(text))
    return handle
  })
  return { has: () => deliveriesIn(Buffer.concat(bytes).toString()) }
}

const deliveriesIn = (text: string): number => text.split('"type":"deliver"').length - 1

test('channel-listeners/1: the gateway encodes an entry once for all subscribers, on every carrier', async (t) => {
  const rig = new Rig()
  t.teardown(() => rig.sessions.close())
  const devices = Array.from({ length: SUBSCRIBERS_MAX }, (_, number) => join(rig, number))
  await rig.rest()
  await until('all listen', () => rig.gauge('session_reads_waiting') === 0)
  const entries = Array.from({ length: ENTRIES }, (_, at) => counted(at + 1))
  rig.announce({ channelId: A, entries: entries.map((one) => one.entry) })
  await rig.rest()
  t.deepEqual(new Set(devices.map(({ has }) => has())), new Set([ENTRIES]))
  t.deepEqual(new Set(entries.map(({ readings }) => readings())), new Set([1]))
})

test('channel-listeners/4: a session whose window was full goes on with the same texts', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  const other = await openOther(rig)
  const [first, second] = [carrier.sent.length, other.sent.length]
  const ack = { type: 'ack', channel_id: A }
  for (let seq = 1; seq <= WINDOW_ENTRIES_MAX + 40; seq += 1) {
    rig.announce(rig.store.commitMessage(A))
    carrier.say({ ...ack, seq })
  }
  t.is(deliveriesIn(other.sent.join('')), WINDOW_ENTRIES_MAX)
  other.say({ ...ack, seq: WINDOW_ENTRIES_MAX })
  const isDelivery = (text: string): boolean => text.includes('"type":"deliver"')
  t.deepEqual(other.sent.slice(second).filter(isDelivery), carrier.sent.slice(first))
  t.is(rig.store.readingMost, 0)
  t.is(rig.meter.total('deliveries_total{replay}'), 0)
  t.true(rig.gauge('session_recent_bytes') > 0)
})

test('channel-listeners/4: a device that missed updates gets each changed Thing once', async (t) => {
  const { rig } = await welcomedRig(t)
  await openOther(rig)
  for (let value = 1; value <= 3; value += 1)
    rig.announce(rig.store.commitThing(A, 't', 'k', value))
  const key = '3'.repeat(32)
  rig.store.subscribe(deviceIdOf(key), A)
  const late = rig.open()
  late.hello({ device_key: key, cursors: { [A]: 0 } })
  await until('it is caught up', () => late.sent.join('').includes('"caught_up"'))
  t.deepEqual(late.heard().slice(1), ['A 3', 'caught up A 3'])
})

test('the bytes of a frame are those that a carrier sends', (t) => {
  const { bytes, text } = frameOf({ ...entry('A', 1), payload: '{"title":"ü"}' }, 'live')
  t.is(bytes, Buffer.byteLength(text))
  t.true(bytes > text.length)
})

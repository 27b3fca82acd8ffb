// Goal: what an entry costs once it does not cost once more for each subscriber.
// Method: subscribers on every carrier, and an entry whose payload counts how often it is read.

import test from 'ava'

import { SUBSCRIBERS_MAX } from '#domain/channel'
import type { CarrierName } from '#domain/carrier'
import type { FeedEntry } from '#domain/feed'
import { FramedCarrier } from '#src/transports/framing'
import { frameOf } from '#src/transports/channel-listeners'
import { entry } from '#test/support/session-words'
import { A, Rig, deviceIdOf } from '#test/support/sessions-rig'
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
  const framed = new FramedCarrier({ kind, address: '192.0.2.1', openingMs: 0 }, stream)
  framed.begin((carrier) => {
    const handle = rig.sessions.open(carrier)
    queueMicrotask(() => handle.receive(text))
    return handle
  })
  return { has: () => deliveriesIn(Buffer.concat(bytes).toString()) }
}

const deliveriesIn = (text: string): number => text.split('"type":"deliver"').length - 1

test('channel-listeners/1: an entry is encoded once for all its subscribers, on every carrier', async (t) => {
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

test('the bytes of a frame are those that a carrier sends', (t) => {
  const { bytes, text } = frameOf({ ...entry('A', 1), payload: '{"title":"ü"}' }, 'live')
  t.is(bytes, Buffer.byteLength(text))
  t.true(bytes > text.length)
})

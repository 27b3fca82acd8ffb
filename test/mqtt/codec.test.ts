// Goal: whatever the bytes are and however they are cut, the reader answers with packets or a reason.

import * as fc from 'fast-check'
import test from 'ava'

import { GATHERED_BYTES_MIN } from '#domain/bounds/gathered'
import { PACKET_BYTES_MAX, PacketReader, bytesOf, encode } from '#src/mqtt/codec'
import type { Packet } from '#src/mqtt/codec'
import { connect, packetsIn, publish } from '#test/support/mqtt-play'

const CONNECT = encode(connect({ protocolVersion: 5 }), 5)
const PACKETS: readonly Packet[] = [
  connect({ protocolVersion: 5 }),
  publish(1, 7, { properties: { topicAlias: 1, userProperties: { op_id: 'x' } } }),
  publish(2, 8, { payload: Buffer.alloc(300) }),
  { cmd: 'pubrel', messageId: 8 },
  { cmd: 'subscribe', messageId: 9, subscriptions: [{ topic: 'things/#', qos: 1 }] },
  { cmd: 'pingreq' },
  { cmd: 'disconnect', reasonCode: 4 },
]
const bytesOfAll = Buffer.concat(PACKETS.map((packet) => encode(packet, 5)))

/** Reads bytes that arrive in pieces of these lengths, the rest at the end. */
function readIn(bytes: Buffer, lengths: readonly number[]) {
  const reader = new PacketReader()
  const packets: Packet[] = []
  let broken: string | undefined
  let at = 0
  for (const length of [...lengths, bytes.length]) {
    const read = packetsIn(reader, bytes.subarray(at, at + length))
    at += length
    packets.push(...read.packets)
    broken ??= read.broken
  }
  return { packets, broken, heldBytes: reader.heldBytes }
}

const pieces = fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 30 })

test('packets are the same however their bytes are cut, and so are their sizes', (t) => {
  const whole = readIn(bytesOfAll, [])
  t.deepEqual(
    whole.packets.map(({ cmd }) => cmd),
    PACKETS.map(({ cmd }) => cmd),
  )
  t.is(
    whole.packets.reduce((sum, packet) => sum + bytesOf(packet), 0),
    bytesOfAll.length,
  )
  fc.assert(
    fc.property(pieces, (lengths) => {
      const { packets, broken, heldBytes } = readIn(bytesOfAll, lengths)
      t.deepEqual(packets, whole.packets)
      t.is(broken, undefined)
      t.is(heldBytes, 0)
    }),
    { numRuns: 100 },
  )
})

test('codec/3: mutated packets and random bytes break nothing', (t) => {
  const mutated = fc
    .array(fc.tuple(fc.nat(bytesOfAll.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 })
    .map((changes) => {
      const bytes = Buffer.from(bytesOfAll)
      for (const [at, value] of changes) bytes.writeUInt8(value, at)
      return bytes
    })
  const random = fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes))
  const behindConnect = random.map((bytes) => Buffer.concat([CONNECT, bytes]))
  fc.assert(
    fc.property(fc.oneof(mutated, random, behindConnect), pieces, (bytes, lengths) => {
      const { broken, heldBytes } = readIn(bytes, lengths)
      t.true(broken === undefined || ['malformed', 'too-large'].includes(broken))
      t.true(heldBytes <= Math.max(GATHERED_BYTES_MIN, 2 * bytes.length))
    }),
    { numRuns: 2_000 },
  )
})

for (const [name, packet] of [
  ['SUBSCRIBE', [0x82, 3, 0, 1, 0]],
  ['UNSUBSCRIBE', [0xa2, 3, 0, 1, 0]],
] as const) {
  test(`codec/4: after a ${name} without a filter nothing is read`, (t) => {
    const bytes = Buffer.concat([CONNECT, Buffer.from(packet), Buffer.from([0xc0, 0])])
    const { packets, broken } = readIn(bytes, [])
    t.deepEqual([packets.map(({ cmd }) => cmd), broken], [['connect'], 'malformed'])
  })
}

const header = (length: number): Buffer => {
  const bytes = [0x30]
  for (let left = length; ; left = Math.floor(left / 128)) {
    bytes.push(left >= 128 ? (left % 128) + 128 : left)
    if (left < 128) return Buffer.from(bytes)
  }
}

test('codec/1: a packet at the bound is waited for, and one beyond it refused by its header', (t) => {
  t.is(readIn(header(PACKET_BYTES_MAX), []).broken, undefined)
  t.is(readIn(header(PACKET_BYTES_MAX + 1), []).broken, 'too-large')
  t.is(readIn(Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff, 0x01]), []).broken, 'malformed')
})

test('codec/2: behind a broken packet nothing is read', (t) => {
  const reader = new PacketReader()
  t.is(packetsIn(reader, Buffer.from([0x30, 0x00])).broken, 'malformed')
  const ping = encode({ cmd: 'pingreq' }, 4)
  t.deepEqual(packetsIn(reader, ping), { packets: [], broken: 'malformed' })
})

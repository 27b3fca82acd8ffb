// Goal: packets that MQTT forbids end the connection, and those beside them are read.
// Method: the bytes of packets as a client would send them, each beside one that is allowed.

import test from 'ava'

import { PacketReader, encode } from '#src/mqtt/codec'
import type { Packet, ProtocolLevel } from '#src/mqtt/codec'
import { violationOf } from '#src/mqtt/packet-rules'
import { REASON } from '#src/mqtt/reasons'
import { connect, opened, packet, packetsIn, play, publish } from '#test/support/mqtt-play'

const { malformedPacket: MALFORMED, protocolError: ERROR } = REASON

/** Reads bytes behind a CONNECT of the level; the violation of their packet. */
function read(hex: string, level: ProtocolLevel): number | string | undefined {
  const reader = new PacketReader()
  packetsIn(reader, encode(connect({ protocolVersion: level }), level))
  const { packets, broken } = packetsIn(reader, Buffer.from(hex, 'hex'))
  const [first] = packets
  return first === undefined ? broken : violationOf(first, level)
}

const rows: readonly (readonly [
  what: string,
  hex: string,
  level: ProtocolLevel,
  outcome: number | string | undefined,
])[] = [
  ['a PUBLISH at QoS 1', '32050001610001', 4, undefined],
  ['one without a packet id', '3203000161', 4, ERROR],
  ['one with the packet id 0', '32050001610000', 4, ERROR],
  ['a PUBLISH at QoS 0', '3003000161', 4, undefined],
  ['one with DUP', '3803000161', 4, MALFORMED],
  ['a PUBLISH at QoS 1 with DUP', '3a050001610001', 4, undefined],
  ['a SUBSCRIBE', '8206000100016100', 4, undefined],
  ['one with the packet id 0', '8206000000016100', 4, ERROR],
  ['an UNSUBSCRIBE', 'a2050001000161', 4, undefined],
  ['one with the packet id 0', 'a2050000000161', 4, ERROR],
  ['a PINGREQ', 'c000', 4, undefined],
  ['one with a body', 'c00100', 4, MALFORMED],
  ['one with a body', 'c00100', 5, MALFORMED],
  ['a DISCONNECT of 3.1.1', 'e000', 4, undefined],
  ['one with a body', 'e00100', 4, MALFORMED],
  ['a DISCONNECT of 5 with a reason', 'e00104', 5, undefined],
  ['a PUBREL', '62020001', 4, undefined],
  ['one with the packet id 0', '62020000', 4, ERROR],
  ['one of 3.1.1 with more', '6203000100', 4, MALFORMED],
  ['one of 5 with a reason', '6203000100', 5, undefined],
  ['a PUBACK of 3.1.1 with more', '4003000100', 4, MALFORMED],
  ['a PUBLISH of 5 with a message expiry', '300900016105020000003c', 5, undefined],
  ['one with a subscription identifier', '3006000161020b01', 5, MALFORMED],
  ['one with a session expiry', '3009000161051100000001', 5, MALFORMED],
]

for (const [what, hex, level, outcome] of rows) {
  test(`${what}, ${hex} in level ${level}, is ${outcome === undefined ? 'read' : 'refused'}`, (t) => {
    t.is(read(hex, level), outcome)
  })
}

const WILL = { topic: 'messages', payload: Buffer.from('x'), qos: 0, retain: false } as const

test('a will has the properties of a message and its delay, and no others', (t) => {
  const willing = (properties: object): Packet =>
    connect({ protocolVersion: 5, will: { ...WILL, properties } })
  t.is(violationOf(willing({ willDelayInterval: 1, contentType: 'text/plain' }), 5), undefined)
  t.is(violationOf(willing({ topicAlias: 1 }), 5), MALFORMED)
})

test('such a packet ends the connection, and MQTT 5 is told why', (t) => {
  const wrong = packet(publish(0, 0, { dup: true }))
  const four = [packet(connect()), opened, wrong]
  t.deepEqual(play(four).at(-1), ['close'])
  const five = [packet(connect({ protocolVersion: 5 })), opened, wrong]
  t.deepEqual(play(five).at(-1), ['disconnect 0x81', 'close'])
  t.deepEqual(play([packet(connect({ properties: { topicAlias: 1 } as never }))]).at(-1), ['close'])
})

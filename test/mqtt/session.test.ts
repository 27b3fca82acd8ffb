// Goal: each exchange of packets has the outcome that MQTT and the specification give it.
// Method: rows of steps, and the lines that the last step answers with.

import test from 'ava'

import { fault } from '#domain/fault'
import { RECEIVE_MAX, TOPIC_ALIAS_MAX, UNRELEASED_MAX } from '#src/mqtt/bounds'
import type { Packet } from '#src/mqtt/codec'
import { connect, opened, packet, play, publish, settled } from '#test/support/mqtt-play'
import type { Step } from '#test/support/mqtt-play'

const CONNACK: Packet = { cmd: 'connack', sessionPresent: false, reasonCode: 0 }
const FOUR = [packet(connect()), opened]
const FIVE = [packet(connect({ protocolVersion: 5 })), opened]
const sent = (qos: 0 | 1 | 2, messageId: number, more = {}): Step =>
  packet(publish(qos, messageId, more))
const pubrel = (messageId: number): Step => packet({ cmd: 'pubrel', messageId })
const aliased = (topicAlias: number, topic = ''): Step =>
  sent(1, 1, { topic, properties: { topicAlias } })
const many = (count: number, of: (id: number) => Step): readonly Step[] =>
  Array.from({ length: count }, (_, index) => of(index + 1))

/** The steps, and the lines of the last one. */
const rows: readonly (readonly [name: string, steps: readonly Step[], lines: readonly string[]])[] =
  [
    ['CONNECT asks for the check', [packet(connect())], ['open sensor-1']],
    ['it is accepted in 3.1.1', FOUR, ['connack 0x0']],
    ['it is accepted in 5', FIVE, ['connack 0x0']],
    ['MQTT 3.1 is refused', [packet(connect({ protocolVersion: 3 }))], ['connack 0x1', 'close']],
    [
      'a kept session without a client id is refused',
      [packet(connect({ clientId: '', clean: false }))],
      ['connack 0x2', 'close'],
    ],
    [
      'a client id at its limit is taken',
      [packet(connect({ clientId: 'c'.repeat(256) }))],
      [`open ${'c'.repeat(256)}`],
    ],
    [
      'a longer one is refused',
      [packet(connect({ protocolVersion: 5, clientId: 'c'.repeat(257) }))],
      ['connack 0x85', 'close'],
    ],
    [
      'no user name is no credential',
      [packet(connect({ protocolVersion: 5, username: '' }))],
      ['connack 0x86', 'close'],
    ],
    [
      'enhanced authentication is refused',
      [packet(connect({ protocolVersion: 5, properties: { authenticationMethod: 'SCRAM' } }))],
      ['connack 0x8c', 'close'],
    ],
    [
      'a wrong password is refused in 3.1.1',
      [packet(connect()), { kind: 'refused', fault: fault('channel_not_found') }],
      ['connack 0x4', 'close'],
    ],
    [
      'a key that is over is refused in 3.1.1',
      [packet(connect()), { kind: 'refused', fault: fault('key_expired') }],
      ['connack 0x5', 'close'],
    ],
    [
      'a wrong password is refused in 5',
      [
        packet(connect({ protocolVersion: 5 })),
        { kind: 'refused', fault: fault('channel_not_found') },
      ],
      ['connack 0x86', 'close'],
    ],
    [
      'a budget that is used up is said in 5',
      [packet(connect({ protocolVersion: 5 })), { kind: 'refused', fault: fault('rate_limited') }],
      ['connack 0x9f', 'close'],
    ],
    ['mqtt-session/1: a publish before CONNECT closes', [sent(1, 1)], ['close']],
    ['a second CONNECT is an error', [...FIVE, packet(connect())], ['disconnect 0x82', 'close']],
    ['packets of a server are an error', [...FIVE, packet(CONNACK)], ['disconnect 0x82', 'close']],
    ['in 3.1.1 an error closes without words', [...FOUR, packet(connect())], ['close']],
    ['QoS 0 is submitted', [...FOUR, sent(0, 0)], ['submit 1 things/a']],
    ['QoS 0 gets no answer', [...FOUR, sent(0, 0), settled(1)], []],
    ['publishes/1: QoS 1 waits for the log', [...FOUR, sent(1, 7)], ['submit 1 things/a']],
    ['QoS 1 is acknowledged once it is there', [...FOUR, sent(1, 7), settled(1)], ['puback 7']],
    [
      'a refused payload has its reason in 5',
      [...FIVE, sent(1, 7), settled(1, 'malformed_body')],
      ['puback 7 0x99'],
    ],
    [
      'a topic that nothing maps has its reason in 5',
      [...FIVE, sent(1, 7), settled(1, 'route_not_found')],
      ['puback 7 0x90'],
    ],
    [
      'a key without the right has its reason in 5',
      [...FIVE, sent(1, 7), settled(1, 'key_scope')],
      ['puback 7 0x87'],
    ],
    [
      'a busy gateway is said in 5',
      [...FIVE, sent(1, 7), settled(1, 'server_busy')],
      ['puback 7 0x97'],
    ],
    [
      '3.1.1 has no word for a refusal',
      [...FOUR, sent(1, 7), settled(1, 'key_scope')],
      ['puback 7'],
    ],
    [
      'publishes/2: the second waits for the first',
      [...FOUR, sent(1, 7), sent(1, 8), settled(2)],
      [],
    ],
    [
      'publishes/2: then both leave in order',
      [...FOUR, sent(1, 7), sent(1, 8), settled(2), settled(1)],
      ['puback 7', 'puback 8'],
    ],
    [
      'publishes/3: a packet that comes again while it is under way is nothing new',
      [...FOUR, sent(1, 7), sent(1, 7, { dup: true })],
      [],
    ],
    ['QoS 2 is received once it is in the log', [...FOUR, sent(2, 7), settled(1)], ['pubrec 7']],
    [
      'publishes/3: QoS 2 that comes again is received again, and not submitted',
      [...FOUR, sent(2, 7), settled(1), sent(2, 7, { dup: true })],
      ['pubrec 7'],
    ],
    ['QoS 2 completes', [...FOUR, sent(2, 7), settled(1), pubrel(7)], ['pubcomp 7']],
    [
      'a completed id is free',
      [...FOUR, sent(2, 7), settled(1), pubrel(7), sent(2, 7)],
      ['submit 2 things/a'],
    ],
    [
      'QoS 2 that is refused in 5 leaves its id free',
      [...FIVE, sent(2, 7), settled(1, 'malformed_body'), sent(2, 7)],
      ['submit 2 things/a'],
    ],
    ['an unknown PUBREL is said in 5', [...FIVE, pubrel(9)], ['pubcomp 9 0x92']],
    ['an unknown PUBREL is answered in 3.1.1', [...FOUR, pubrel(9)], ['pubcomp 9']],
    [
      'publishes/4: 5 takes its Receive Maximum',
      [...FIVE, ...many(RECEIVE_MAX, (id) => sent(1, id))],
      [`submit ${RECEIVE_MAX} things/a`],
    ],
    [
      'publishes/4: and not one more',
      [...FIVE, ...many(RECEIVE_MAX + 1, (id) => sent(1, id))],
      ['disconnect 0x93', 'close'],
    ],
    [
      'publishes/4: 3.1.1 has a bound of unreleased ids',
      [
        ...FOUR,
        ...Array.from({ length: UNRELEASED_MAX }, (_, at) => [
          sent(2, at + 1),
          settled(at + 1),
        ]).flat(),
        sent(2, UNRELEASED_MAX + 1),
      ],
      ['close'],
    ],
    [
      'an alias stands for its topic',
      [...FIVE, aliased(1, 'things/b'), settled(1), aliased(1)],
      ['submit 2 things/b'],
    ],
    [
      'the last alias is taken',
      [...FIVE, aliased(TOPIC_ALIAS_MAX, 'things/b')],
      ['submit 1 things/b'],
    ],
    [
      'publishes/4: one beyond it is an error',
      [...FIVE, aliased(TOPIC_ALIAS_MAX + 1, 'things/b')],
      ['disconnect 0x94', 'close'],
    ],
    ['an alias without topic is an error', [...FIVE, aliased(3)], ['disconnect 0x94', 'close']],
    ['alias 0 is an error', [...FIVE, aliased(0, 'things/b')], ['disconnect 0x94', 'close']],
    ['PINGREQ is answered', [...FOUR, packet({ cmd: 'pingreq' })], ['pingresp']],
    ['DISCONNECT ends in peace', [...FOUR, packet({ cmd: 'disconnect' })], ['close clean']],
    [
      'DISCONNECT may ask for the will',
      [...FIVE, packet({ cmd: 'disconnect', reasonCode: 4 })],
      ['close'],
    ],
    ['no CONNECT in time closes', [8_000], ['close']],
    ['a little before that nothing happens', [7_999], []],
    ['a check without an answer closes', [packet(connect()), 30_000], ['close']],
    ['mqtt-session/3: silence ends', [...FIVE, 90_000], ['disconnect 0x8d', 'close']],
    ['mqtt-session/3: less silence does not', [...FIVE, 89_999], []],
    [
      'mqtt-session/3: without keep alive silence is no end',
      [packet(connect({ keepalive: 0 })), opened, 10_000_000],
      [],
    ],
    [
      'bytes that are no packet end',
      [...FIVE, { kind: 'broken', reason: 'malformed' }],
      ['disconnect 0x81', 'close'],
    ],
    [
      'a packet that is too large ends',
      [...FIVE, { kind: 'broken', reason: 'too-large' }],
      ['disconnect 0x95', 'close'],
    ],
    [
      'a stop is said',
      [...FIVE, { kind: 'leave', reason: 'shutdown' }],
      ['disconnect 0x8b', 'close'],
    ],
    [
      'mqtt-door/3: a take-over is said, and the will is not published',
      [...FIVE, { kind: 'leave', reason: 'taken-over' }],
      ['disconnect 0x8e', 'close clean'],
    ],
    [
      'mqtt-door/3: the end of the credentials is said, and the will is not published',
      [...FIVE, { kind: 'leave', reason: 'not-authorized' }],
      ['disconnect 0x87', 'close clean'],
    ],
    [
      'a client that reads nothing hears why, if it reads on',
      [...FIVE, { kind: 'leave', reason: 'unread' }],
      ['disconnect 0x97', 'close'],
    ],
    [
      'credentials of 256 bytes are looked up',
      [packet(connect({ username: 'x'.repeat(256), password: Buffer.alloc(256) }))],
      ['open sensor-1'],
    ],
    [
      'a user name beyond that opens nothing',
      [packet(connect({ username: 'x'.repeat(257) }))],
      ['connack 0x4', 'close'],
    ],
    [
      'a password beyond that opens nothing',
      [packet(connect({ password: Buffer.alloc(257) }))],
      ['connack 0x4', 'close'],
    ],
    ['mqtt-session/2: nothing follows the end', [...FOUR, packet(connect()), sent(1, 1)], []],
  ]

for (const [name, steps, lines] of rows) {
  test(name, (t) => {
    t.deepEqual(play(steps).at(-1), lines)
  })
}

// Goal: a subscriber gets what its filters match, in the packets that it can take, and no more.
// Method: rows of steps behind CONNECT, and the lines that the last step answers with.

import test from 'ava'

import type { FeedEntry } from '#domain/feed'
import { parseOperationId } from '#domain/identity'
import type { ConnectPacket, SubscribePacket } from '#src/mqtt/codec'
import { SUBSCRIPTIONS_MAX } from '#src/mqtt/bounds'
import { entryFrame } from '#src/mqtt/following'
import type { FeedNews } from '#src/mqtt/subscriber'
import { WINDOW_ENTRIES_MAX } from '#src/transports/signals'
import { connect, opened, packet, play } from '#test/support/mqtt-play'
import type { Step } from '#test/support/mqtt-play'
import { channel, entry, position } from '#test/support/session-words'

type Filter = SubscribePacket['subscriptions'][number]

const A = channel('A')
const filter = (topic: string, more: Partial<Filter> = {}): Filter => ({ topic, qos: 0, ...more })
const subscribe = (filters: readonly (string | Filter)[], id?: number): Step =>
  packet({
    cmd: 'subscribe',
    messageId: 9,
    subscriptions: filters.map((each) => (typeof each === 'string' ? filter(each) : each)),
    ...(id !== undefined && { properties: { subscriptionIdentifier: id } }),
  })
const feed = (news: FeedNews): Step => ({ kind: 'feed', news })
const following = feed({ kind: 'following', position: position('A', 0, 0) })

/** An update of the Thing `a` that sets an attr. */
const update = (seq: number, more: Partial<FeedEntry> = {}): FeedEntry => ({
  ...entry('A', seq, `{"attrs":{"t":${seq}}}`),
  model: 'thing',
  action: 'update',
  entityId: 'a' as FeedEntry['entityId'],
  ...more,
})
const announce = (...entries: readonly FeedEntry[]): Step =>
  feed({
    kind: 'announced',
    channelId: A,
    frames: entries.map((each) => entryFrame(each, 'live')),
    headSeq: entries.at(-1)?.seq ?? 0,
  })
const puback = (messageId: number): Step => packet({ cmd: 'puback', messageId })

const client = (level: 4 | 5, properties?: ConnectPacket['properties']): readonly Step[] => [
  packet(connect({ protocolVersion: level, ...(properties && { properties }) })),
  opened,
]
const ATTR = 'things/a/attrs/t'
const bounded = (maximumPacketSize: number, more: ConnectPacket['properties'] = {}) =>
  client(5, { maximumPacketSize, ...more })
/** The publish of the first update, and its bytes: header, length, topic, properties, payload. */
const WHOLE = '{"action":"update","seq":1,"op_id":"op-A-1","accepted_at":1,"attrs":{"t":1}}'
const WHOLE_BYTES = 1 + 1 + 2 + 'things/a'.length + 1 + WHOLE.length
const attrs = (...filters: readonly Filter[]): readonly Step[] => [
  ...client(5),
  subscribe(filters.length > 0 ? filters : [filter(ATTR, { qos: 1 })]),
  following,
]
const own = parseOperationId('own-1') as FeedEntry['opId']

const rows: readonly (readonly [name: string, steps: readonly Step[], lines: readonly string[]])[] =
  [
    ['subscriber/1: SUBSCRIBE first follows', [...client(5), subscribe(['things/#'])], ['follow']],
    [
      'subscriber/1: SUBACK and the present state come once it is followed',
      [...client(5), subscribe(['things/+', filter('messages', { qos: 2 })]), following],
      ['suback 9 0x0 0x1', 'retain things/+ messages'],
    ],
    [
      'a second SUBSCRIBE is answered at once',
      [...attrs(), subscribe(['events/+'])],
      ['suback 9 0x0', 'retain events/+'],
    ],
    [
      'retain handling 1 sends the state for a new subscription alone',
      [...attrs(), subscribe([filter('events/+', { rh: 1 }), filter(ATTR, { rh: 1 })])],
      ['suback 9 0x0 0x0', 'retain events/+'],
    ],
    [
      'retain handling 2 sends none',
      [...attrs(), subscribe([filter('events/+', { rh: 2 })])],
      ['suback 9 0x0'],
    ],
    [
      'shared subscriptions and broken filters are refused in 5',
      [...client(5), subscribe(['$share/g/things/+', 'things/#/x', 'thi+ngs', ''])],
      ['suback 9 0x9e 0x8f 0x8f 0x8f'],
    ],
    ['and in 3.1.1', [...client(4), subscribe(['$share/g/things/+'])], ['suback 9 0x80']],
    [
      'mqtt-subscriptions/1: the last subscription is taken, and one more is not',
      [
        ...attrs(),
        subscribe(
          Array.from({ length: SUBSCRIPTIONS_MAX - 1 }, (_, at) =>
            filter(`events/${at}`, { rh: 2 }),
          ),
        ),
        subscribe(['messages', ATTR]),
      ],
      ['suback 9 0x97 0x0', `retain ${ATTR}`],
    ],
    [
      'an attr goes out at the granted QoS',
      [...attrs(), announce(update(1))],
      [`publish 1 1 ${ATTR} 1`],
    ],
    [
      'things/# has the entry and its attrs',
      [...attrs(filter('things/#')), announce(update(1))],
      [
        `publish 0 things/a {"action":"update","seq":1,"op_id":"${entry('A', 1).opId}","accepted_at":1,"attrs":{"t":1}}`,
        `publish 0 ${ATTR} 1`,
      ],
    ],
    ['what nobody asked for stays', [...attrs(filter('events/#')), announce(update(1))], []],
    [
      'overlapping subscriptions give one publish, with every identifier',
      [
        ...client(5),
        subscribe([filter(ATTR)], 7),
        following,
        subscribe([filter('things/a/attrs/+', { qos: 1, rh: 2 })], 8),
        announce(update(1)),
      ],
      [`publish 1 1 ${ATTR} 1 7,8`],
    ],
    [
      "no-local leaves the client's own publishes out",
      [...attrs(filter(ATTR, { nl: true })), announce(update(1, { opId: own }), update(2))],
      [`publish 0 ${ATTR} 2`],
    ],
    [
      "outgoing/1: beyond the client's Receive Maximum publishes wait",
      [
        ...client(5, { receiveMaximum: 2 }),
        subscribe([filter(ATTR, { qos: 1 })]),
        following,
        announce(update(1), update(2), update(3)),
      ],
      [`publish 1 1 ${ATTR} 1`, `publish 1 2 ${ATTR} 2`],
    ],
    [
      'outgoing/1: until one is acknowledged',
      [
        ...client(5, { receiveMaximum: 1 }),
        subscribe([filter(ATTR, { qos: 1 })]),
        following,
        announce(update(1), update(2)),
        puback(1),
      ],
      [`publish 1 2 ${ATTR} 2`],
    ],
    ['an unknown PUBACK does nothing', [...attrs(), puback(5)], []],
    [
      "outgoing/3: a publish of the client's packet size is sent",
      [...bounded(WHOLE_BYTES), subscribe([filter('things/#')]), following, announce(update(1))],
      [`publish 0 things/a ${WHOLE}`, `publish 0 ${ATTR} 1`],
    ],
    [
      'outgoing/3: one of a byte more is left out',
      [...bounded(WHOLE_BYTES - 1), subscribe(['things/#']), following, announce(update(1))],
      [`publish 0 ${ATTR} 1`],
    ],
    [
      'outgoing/3: at QoS 1 it has a packet id, too, and one that is left out waits for nothing',
      [
        ...bounded(WHOLE_BYTES, { receiveMaximum: 1 }),
        subscribe([filter('things/+', { qos: 1 }), filter(ATTR, { qos: 1 })]),
        following,
        announce(update(1)),
      ],
      [`publish 1 1 ${ATTR} 1`],
    ],
    [
      'outgoing/3: it gets no alias where only that is too much',
      [
        ...bounded(WHOLE_BYTES, { topicAliasMaximum: 1 }),
        subscribe(['things/+']),
        following,
        announce(update(1)),
      ],
      [`publish 0 things/a ${WHOLE}`],
    ],
    [
      'outgoing/3: present state beyond it is left out, too',
      [
        ...bounded(20),
        subscribe(['things/+']),
        following,
        {
          kind: 'retained',
          news: ['0123456', '01234567'].map((payload) => ({ topic: 'things/a', payload })),
        },
      ],
      ['publish 0r things/a 0123456'],
    ],
    [
      'a topic gets an alias, and goes without its name then',
      [
        ...client(5, { topicAliasMaximum: 1 }),
        subscribe([filter(ATTR)]),
        following,
        announce(update(1), update(2)),
      ],
      [`publish 0 ${ATTR}@1 1`, 'publish 0 @1 2'],
    ],
    ['a hole is read from the feed', [...attrs(), announce(update(2))], ['read after 0']],
    [
      'a head in the store that nobody announced is read',
      [...attrs(), feed({ kind: 'head', headSeq: 4 })],
      ['read after 0'],
    ],
    [
      'outgoing/2: a client that acknowledges nothing gets no more than the window',
      [
        ...client(5),
        subscribe([filter(ATTR, { qos: 1 })]),
        following,
        announce(...Array.from({ length: WINDOW_ENTRIES_MAX }, (_, at) => update(at + 1))),
        announce(update(WINDOW_ENTRIES_MAX + 1)),
      ],
      [],
    ],
    [
      'outgoing/2: it goes on from the feed, once half is acknowledged',
      [
        ...client(5),
        subscribe([filter(ATTR, { qos: 1 })]),
        following,
        announce(...Array.from({ length: WINDOW_ENTRIES_MAX }, (_, at) => update(at + 1))),
        announce(update(WINDOW_ENTRIES_MAX + 1)),
        ...Array.from({ length: WINDOW_ENTRIES_MAX / 2 }, (_, at) => puback(at + 1)),
      ],
      [`read after ${WINDOW_ENTRIES_MAX}`],
    ],
    [
      'outgoing/2: frames for nobody are done with at once',
      [
        ...client(5),
        subscribe([filter(ATTR, { qos: 1 })]),
        following,
        feed({
          kind: 'announced',
          channelId: A,
          frames: Array.from({ length: WINDOW_ENTRIES_MAX }, (_, at) => {
            return { seq: at + 1, text: '', bytes: 1, mode: 'live' as const }
          }),
          headSeq: WINDOW_ENTRIES_MAX,
        }),
        announce(update(WINDOW_ENTRIES_MAX + 1)),
      ],
      [`publish 1 1 ${ATTR} ${WINDOW_ENTRIES_MAX + 1}`],
    ],
    [
      'UNSUBSCRIBE ends it',
      [...attrs(), packet({ cmd: 'unsubscribe', messageId: 3, unsubscriptions: [ATTR, 'x'] })],
      ['unsuback 3 0x0 0x11'],
    ],
  ]

for (const [name, steps, lines] of rows) {
  test(name, (t) => {
    t.deepEqual(play(steps).at(-1), lines)
  })
}

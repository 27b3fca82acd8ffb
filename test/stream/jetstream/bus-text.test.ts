import test from 'ava'
import * as fc from 'fast-check'

import type { FeedEntry } from '#domain/feed'
import { parseEventId, parseMessageId, parseThingId } from '#domain/identity'
import type { EntityId } from '#domain/identity'
import {
  decodeAnnouncement,
  decodeNotice,
  encodeAnnouncement,
} from '#src/stream/jetstream/bus-text'
import { announcementOf } from '#test/contracts/bus-contract'
import { channel, opId } from '#test/support/submissions'

const MIB = 2 ** 20
const CHANNEL = channel(1)

function known<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('the test made a value that the code refuses')
  return value
}

const base = fc.record({
  seq: fc.nat(),
  acceptedAt: fc.nat(),
  payload: fc.dictionary(fc.string(), fc.string()).map((value) => JSON.stringify(value)),
})
const models = fc.constantFrom<readonly [FeedEntry['model'], FeedEntry['action'], EntityId]>(
  ['message', 'send', known(parseMessageId('0'.repeat(32)))],
  ['event', 'close', known(parseEventId('alarm:1'))],
  ['thing', 'archive', known(parseThingId('lamp-1'))],
)
const entries = fc.array(
  fc
    .tuple(base, models, fc.option(fc.nat(), { nil: undefined }))
    .map(([{ seq, acceptedAt, payload }, [model, action, entityId], rev]): FeedEntry => ({
      channelId: CHANNEL,
      seq,
      opId: opId(`op-${seq}`),
      model,
      action,
      entityId,
      acceptedAt,
      payload,
      ...(rev !== undefined && { rev, state: 'open' }),
    })),
  { minLength: 1, maxLength: 20 },
)

test('bus-text/1: a reader decodes an announcement unchanged, also from several texts', (t) => {
  fc.assert(
    fc.property(entries, fc.integer({ min: 700, max: 4000 }), (made, bytesMax) => {
      const texts = encodeAnnouncement({ channelId: CHANNEL, entries: made }, bytesMax)
      const read = texts.map((text) => known(decodeAnnouncement(CHANNEL, text)))
      t.true(texts.every((text) => Buffer.byteLength(text) <= bytesMax)) // bus-text/2
      const missing = made.filter(
        (entry) => !read.some((part) => part.entries.some((one) => one.seq === entry.seq)),
      )
      if (missing.length === 0)
        t.deepEqual(
          read.flatMap((part) => part.entries),
          made,
        )
      else t.true(read.some(({ headSeq = 0 }) => missing.every(({ seq }) => headSeq >= seq)))
    }),
    { numRuns: 100 },
  )
})

test('bus-text/2: the encoder omits an entry that is too large, and headSeq shows it', (t) => {
  const small = announcementOf(CHANNEL, [7])
  const large = announcementOf(CHANNEL, [8], `"${'x'.repeat(2000)}"`)
  const both = { channelId: CHANNEL, entries: [...small.entries, ...large.entries] }
  const texts = encodeAnnouncement(both, 1000)
  t.is(texts.length, 1)
  t.deepEqual(decodeAnnouncement(CHANNEL, texts[0] ?? ''), { ...small, headSeq: 8 })
  const alone = encodeAnnouncement(large, 1000).map((text) => decodeAnnouncement(CHANNEL, text))
  t.deepEqual(alone, [{ channelId: CHANNEL, entries: [], headSeq: 8 }])
})

test('bus-text/2: the encoder omits an entry that exceeds the bound by one byte', (t) => {
  const announcement = announcementOf(CHANNEL, [1])
  const [text = ''] = encodeAnnouncement(announcement, MIB)
  const enough = [...Array.from({ length: 200 }).keys()].find((more) => {
    const [part = ''] = encodeAnnouncement(announcement, Buffer.byteLength(text) + more)
    return part === text
  })
  t.true(enough !== undefined)
  const [short = ''] = encodeAnnouncement(announcement, Buffer.byteLength(text) + (enough ?? 0) - 1)
  t.deepEqual(decodeAnnouncement(CHANNEL, short)?.entries, [])
})

// Each row is a text that a reader must refuse whole.
const REFUSED: readonly (readonly [why: string, text: string])[] = [
  ['no JSON', 'x'],
  ['no array', '{}'],
  ['no head seq', '[]'],
  ['one payload too few', '[0,[1,"op","thing","update","t",1,null,null]]'],
  ['one payload too many', '[0]\n{}'],
  ['an unknown model', '[0,[1,"op","lamp","update","t",1,null,null]]\n{}'],
  ['an unknown action', '[0,[1,"op","thing","fly","t",1,null,null]]\n{}'],
  ['an invalid id', '[0,[1,"op","message","send","t",1,null,null]]\n{}'],
  ['an invalid seq', '[0,["1","op","thing","update","t",1,null,null]]\n{}'],
]

for (const [why, text] of REFUSED) {
  test(`bus-text/1: a reader refuses an announcement with ${why}`, (t) => {
    t.is(decodeAnnouncement(CHANNEL, text), undefined)
  })
}

const REFUSED_NOTICES: readonly string[] = [
  'x',
  '[]',
  '{"kind":"applied","lane":-1,"position":1}',
  '{"kind":"applied","lane":1}',
  '{"kind":"credentials-changed","channelId":"short"}',
  '{"kind":"subscribed","channelId":"short","deviceId":"short"}',
  '{"kind":"session-opened","deviceId":"short"}',
  `{"kind":"session-opened","deviceId":"${'a'.repeat(64)}","carrier":"wss","number":-1}`,
  `{"kind":"session-opened","deviceId":"${'a'.repeat(64)}","number":1}`,
  '{"kind":"new"}',
]

test('bus-text/1: a reader refuses every text that is no valid notice', (t) => {
  for (const text of REFUSED_NOTICES) t.is(decodeNotice(text), undefined, text)
})

import test from 'ava'
import * as fc from 'fast-check'

import {
  channelIdFromBytes,
  isOperationOf,
  laneOf,
  operationIdFrom,
  operationTimeOf,
  parseChannelId,
  parseDeviceId,
  parseDeviceKey,
  parseEventId,
  parseMessageId,
  parseOperationId,
  parseThingId,
} from '#domain/identity'

const ID = '0123456789ABCDEFGHJKMNPQR0'

// Method: a spelling and the canonical one it stands for; undefined where it is none.
const spellings: readonly (readonly [spelling: string, canonical: string | undefined])[] = [
  [ID, ID],
  [ID.toLowerCase(), ID],
  ['01234-56789-ABCDE-FGHJK-MNPQR-0', ID],
  [' 0123456789\tABCDEFGHJK\nMNPQR0\r', ID],
  ['OI23456789ABCDEFGHJKMNPQRo', ID],
  ['0l23456789abcdefghjkmnpqr0', ID],
  ['ZZZZZZZZZZZZZZZZZZZZZZZZZW', 'ZZZZZZZZZZZZZZZZZZZZZZZZZW'],
  // The two spare bits of the last character must be zero.
  ['ZZZZZZZZZZZZZZZZZZZZZZZZZZ', undefined],
  ['0123456789ABCDEFGHJKMNPQR1', undefined],
  // U is no Crockford digit.
  ['U123456789ABCDEFGHJKMNPQR0', undefined],
  [ID.slice(1), undefined],
  [`${ID}0`, undefined],
  ['', undefined],
  [`\u00a0${ID}`, undefined],
  [`${ID}\u2003`, undefined],
  // Letters whose upper case would be ASCII.
  [`\u0131${ID.slice(1)}`, undefined],
  [`${' '.repeat(230)}${ID}`, ID],
  [`${' '.repeat(231)}${ID}`, undefined],
]

test('a channel id is read in every spelling that is allowed and in no other', (t) => {
  for (const [spelling, canonical] of spellings) {
    const parsed: string | undefined = parseChannelId(spelling)
    t.is(parsed, canonical, JSON.stringify(spelling))
  }
})

test('sixteen bytes make one canonical channel id, and different bytes another', (t) => {
  const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 })
  fc.assert(
    fc.property(bytes, bytes, (a, b) => {
      const id = channelIdFromBytes(a)
      t.is(parseChannelId(id), id)
      t.is(id === channelIdFromBytes(b), Buffer.from(a).equals(b))
    }),
    { numRuns: 500 },
  )
  const [least, greatest]: readonly string[] = [0, 255].map((byte) =>
    channelIdFromBytes(new Uint8Array(16).fill(byte)),
  )
  t.is(least, '0'.repeat(26))
  t.is(greatest, `${'Z'.repeat(25)}W`)
})

const HEX_32 = 'a1'.repeat(16)

// Method: a parser, what it takes, and what it refuses: each limit and one beyond.
const parsers: readonly (readonly [
  name: string,
  parse: (input: string) => string | undefined,
  taken: readonly string[],
  refused: readonly string[],
])[] = [
  ['thing id', parseThingId, ['a', 'aZ09_:-', 'x'.repeat(64)], ['', 'x'.repeat(65), 'a b', 'é']],
  ['event id', parseEventId, ['a', 'aZ09_:-', 'x'.repeat(64)], ['', 'x'.repeat(65), 'a/b', 'a\n']],
  ['op id', parseOperationId, ['a', 'aZ09_:-', 'x'.repeat(128)], ['', 'x'.repeat(129), 'a.b']],
  ['message id', parseMessageId, [HEX_32], [HEX_32.slice(1), `${HEX_32}0`, HEX_32.toUpperCase()]],
  ['device key', parseDeviceKey, [HEX_32], [HEX_32.slice(1), `${HEX_32}0`, HEX_32.toUpperCase()]],
  ['device id', parseDeviceId, [HEX_32 + HEX_32], [HEX_32, `${HEX_32}${HEX_32}0`]],
]

for (const [name, parse, taken, refused] of parsers) {
  test(`a ${name} is checked for its characters and its length`, (t) => {
    for (const input of taken) t.is(parse(input), input)
    for (const input of refused) t.is(parse(input), undefined, JSON.stringify(input))
  })
}

test('an operation id made by the gateway holds its time, and is one', (t) => {
  const made = operationIdFrom(1_763_684_000_123, HEX_32)
  t.regex(made, /^[0-9a-f]{13}-[0-9a-f]{32}$/)
  t.is(Number.parseInt(made.slice(0, 13), 16), 1_763_684_000_123)
  t.is(parseOperationId(made), made)
})

test('an operation id holds its own time, whatever the one before it held', (t) => {
  const now = 1_763_684_000_123
  for (const nowMs of [0, now, now, now + 1, now, 0, now, 2 ** 52 - 1]) {
    const made: string = operationIdFrom(nowMs, HEX_32)
    t.is(made, `${nowMs.toString(16).padStart(13, '0')}-${HEX_32}`)
  }
})

test("the time of an operation id is read from ids of the gateway's form", (t) => {
  for (const nowMs of [0, 1, 1_763_684_000_123, 2 ** 52 - 1]) {
    const made = operationIdFrom(nowMs, HEX_32)
    t.is(operationTimeOf(made), nowMs)
    t.true(isOperationOf(made, nowMs))
    t.false(isOperationOf(made, nowMs + 1))
  }
  for (const [text, time] of [
    ['0000000000010-any', 16],
    ['0000000000010-', 16],
    ['0000000000010', undefined],
    ['000000000010-any', undefined],
    ['00000000000010-any', undefined],
    ['000000000001A-any', undefined],
    ['a-0000000000010-any', undefined],
  ] as const) {
    const id = parseOperationId(text)
    if (id === undefined) return t.fail()
    t.is(operationTimeOf(id), time, text)
    t.is(isOperationOf(id, 16), time === 16, text)
  }
})

test('the lane of a channel never changes, and channels spread over all lanes', (t) => {
  const id = parseChannelId(ID)
  if (id === undefined) return t.fail()
  // A cluster that is upgraded node by node must agree, so the numbers themselves are kept here.
  t.deepEqual(
    [1, 16, 1024].map((lanes) => laneOf(id, lanes)),
    [0, 3, 531],
  )

  const counts = Array.from({ length: 16 }, () => 0)
  for (let number = 0; number < 4096; number += 1) {
    const bytes = new Uint8Array(16)
    new DataView(bytes.buffer).setUint32(0, Math.imul(number, 2_654_435_761))
    const lane = laneOf(channelIdFromBytes(bytes), 16)
    counts[lane] = (counts[lane] ?? 0) + 1
  }
  for (const count of counts) t.true(count > 180 && count < 340, counts.join(' '))
})

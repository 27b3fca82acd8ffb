// Goal: an op_id stands for what a message says, and a query says what a body would.
// Method: pairs of bodies that say the same or not; queries beside the bodies they stand for.

import test from 'ava'

import { isFault } from '#domain/fault'
import type { MessageSubmission } from '#domain/submission'
import { contentOf, messageBodyFromQuery, readMessage, TTL_MAX_MS } from '#src/schemas/message'
import { CREDENTIALS, making, NOW_MS } from '#test/support/making'

const BODY = { ...CREDENTIALS, title: 'Door open' }

function submissionOf(body: unknown, nowMs = NOW_MS): MessageSubmission {
  const read = readMessage(body, making(nowMs))
  if (isFault(read)) throw new Error(`${read.code} ${read.field ?? ''} ${read.detail ?? ''}`)
  return read.submission
}

// Two bodies, and whether their content is the same.
const contents: readonly (readonly [a: object, b: object, isSame: boolean])[] = [
  [{}, {}, true],
  [{ op_id: 'a' }, { op_id: 'b' }, true],
  [{ title: ' Door open ' }, {}, true],
  [{ severity: 'odd' }, { severity: 'NORMAL' }, true],
  // An absent severity, and one that is unknown, count as normal.
  [{ severity: 'odd' }, {}, true],
  [{ severity: 'normal' }, { severity: null }, true],
  [{ severity: ' ' }, {}, true],
  [{ severity: 'low' }, {}, false],
  [{ metadata: { a: 1, b: 2 } }, { metadata: { b: 2, a: 1 } }, true],
  [{ occurred_at: 1_763_684_000 }, { occurred_at: '1763684000000' }, true],
  [{ tags: ['a', 'a'] }, { tags: [' a'] }, true],
  [{ unknown: 1 }, {}, true],
  [{ ttl: '9999999999' }, { ttl: 9_999_999_999_000 }, true],
  // The scope is compared apart.
  [{ thing_id: 'a', occurred_at: 1 }, { thing_id: 'b', occurred_at: 1 }, true],
  [{ title: 'x' }, { title: 'y' }, false],
  [{ body: 'x' }, { url: 'x' }, false],
  [{ tags: ['a', 'b'] }, { tags: ['b', 'a'] }, false],
  [{ tags: ['a', 'b'] }, { tags: ['a","b'] }, false],
  [{ metadata: { a: 1 } }, { metadata: { a: '1' } }, false],
  [{ metadata: { a: 1 } }, { metadata: { b: 1 } }, false],
  [{ ttl: 9_999_999_998 }, { ttl: 9_999_999_999 }, false],
  [{ ttl: 1 }, {}, false],
  [{ delay: '1h' }, {}, false],
  [{ delay: '1h' }, { delay: ' 1h ' }, true],
  [{ delay: '1h' }, { deliver_at: NOW_MS + 3_600_000 }, false],
  [{ deliver_at: NOW_MS + 60_000 }, { deliver_at: (NOW_MS + 60_000) / 1000 }, true],
]

test('message/1: equal content gives equal text, other content another', (t) => {
  for (const [a, b, isSame] of contents) {
    const texts = [a, b].map((more) => contentOf(submissionOf({ ...BODY, ...more })))
    t.is(texts[0] === texts[1], isSame, JSON.stringify([a, b]))
  }
})

test('message/1: a repeat has the same content later, on both sides of the cap of its ttl', (t) => {
  const ttl = NOW_MS + TTL_MAX_MS + 60_000
  const first = submissionOf({ ...BODY, op_id: 'a', ttl })
  const repeat = submissionOf({ ...BODY, op_id: 'a', ttl }, NOW_MS + 120_000)
  t.not(first.fields['ttl'], repeat.fields['ttl'])
  const soon = (now: number) => submissionOf({ ...BODY, op_id: 'a', ttl: 3600 }, now)
  t.not(soon(NOW_MS).fields['ttl'], soon(NOW_MS + 1).fields['ttl'])
  const delayed = (now: number) => submissionOf({ ...BODY, op_id: 'a', delay: '1h' }, now)
  t.is(contentOf(delayed(NOW_MS)), contentOf(delayed(NOW_MS + 1)))
  t.is(contentOf(soon(NOW_MS)), contentOf(soon(NOW_MS + 1)))
  t.is(contentOf(first), contentOf(repeat))
})

const queries: readonly (readonly [query: string, body: object])[] = [
  ['title=a&body=b', { title: 'a', body: 'b' }],
  ['title=a&title=b', { title: 'a' }],
  ['title=a&unknown=1&__proto__=x&kind=fault', { title: 'a' }],
  ['tags=a,b,,%20,c', { tags: ['a', 'b', 'c'] }],
  ['images=', { images: [] }],
  ['metadata=%7B%22a%22%3A1%7D', { metadata: { a: 1 } }],
  ['metadata=%7B%22a%22%3A9007199254740993%7D', { metadata: { a: NaN } }],
  ['metadata=', {}],
  // Readers of forms leave what is no escape as it is.
  ['title=100%&body=%zz+%C3%BC%EF%BF%BD', { title: '100%', body: '%zz ü\ufffd' }],
  ['title=a&utm=%FF', { title: 'a' }],
  ['message_id=x', { message_id: 'x' }],
  [
    'ttl=12&occurred_at=13&op_id=o&thing_id=t',
    { op_id: 'o', occurred_at: '13', ttl: '12', thing_id: 't' },
  ],
]

test('the query of GET /message gives the body that POST would have', (t) => {
  for (const [query, body] of queries) {
    t.deepEqual(messageBodyFromQuery(query), body, query)
  }
  for (const metadata of ['x', '[]', '1', 'null', '{"a":']) {
    const read = messageBodyFromQuery(new URLSearchParams({ metadata }).toString())
    t.like(read, { code: 'validation_failed', field: 'metadata' }, metadata)
  }
})

test('a parameter of GET /message that is not UTF-8 is refused by its name', (t) => {
  for (const value of ['%FF', 'Gr%FC%DFe', '%C3', '%E2%82', 'a%C3+%BC', '%ED%A0%80']) {
    for (const field of ['title', 'tags', 'metadata']) {
      const read = messageBodyFromQuery(`channel_id=c&${field}=${value}`)
      t.like(read, { code: 'validation_failed', field }, `${field}=${value}`)
    }
  }
})

test('a whole message by query equals the same message by body', (t) => {
  const query = new URLSearchParams({
    ...BODY,
    body: 'b',
    severity: 'high',
    occurred_at: '1763684000',
    ttl: '1763684000',
    url: 'u',
    images: 'i,j',
    tags: 'a, b',
    metadata: '{"k":true}',
    ciphertext: 'c',
    thing_id: 't',
  })
  const body = messageBodyFromQuery(query.toString())
  t.is(
    contentOf(submissionOf(body)),
    contentOf(
      submissionOf({
        ...BODY,
        body: 'b',
        severity: 'high',
        occurred_at: 1_763_684_000,
        ttl: 1_763_684_000,
        url: 'u',
        images: ['i', 'j'],
        tags: ['a', 'b'],
        metadata: { k: true },
        ciphertext: 'c',
        thing_id: 't',
      }),
    ),
  )
})

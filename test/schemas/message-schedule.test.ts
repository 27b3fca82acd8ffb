// Goal: when a Message is sent, and from when its ttl counts.

import test from 'ava'

import { isFault } from '#domain/fault'
import { readMessage, TTL_MAX_MS } from '#src/schemas/message'
import { CREDENTIALS, making, NOW_MS } from '#test/support/making'

const BODY = { ...CREDENTIALS, title: 'Door open' }

const MINUTE = 60_000
const DAY = 86_400_000
// The members that say when a Message is sent, and its time or the refusal.
const SCHEDULES: readonly (readonly [sent: object, at: number | string | undefined])[] = [
  [{}, undefined],
  [{ delay: ' ', deliver_at: null }, undefined],
  [{ delay: '10s' }, NOW_MS + 10_000],
  [{ delay: '30d' }, NOW_MS + 30 * DAY],
  [{ deliver_at: NOW_MS + 10_000 }, NOW_MS + 10_000],
  [{ deliver_at: String(NOW_MS + 30 * DAY) }, NOW_MS + 30 * DAY],
  [{ delay: '9s' }, 'validation_failed delay'],
  [{ delay: '31d' }, 'validation_failed delay'],
  [{ delay: '1.5h' }, 'validation_failed delay'],
  [{ delay: 'tomorrow' }, 'validation_failed delay'],
  [{ delay: 60 }, 'invalid_json_data delay'],
  [{ deliver_at: NOW_MS + 9_999 }, 'validation_failed deliver_at'],
  [{ deliver_at: NOW_MS + 30 * DAY + 1 }, 'validation_failed deliver_at'],
  [{ deliver_at: 0 }, 'validation_failed deliver_at'],
  [{ deliver_at: 'soon' }, 'invalid_timestamp deliver_at'],
  [{ deliver_at: NOW_MS + MINUTE, delay: '1m' }, 'validation_failed delay'],
]

test('a Message is sent later by a time or a delay, within 10 s and 30 days', (t) => {
  for (const [sent, expected] of SCHEDULES) {
    const read = readMessage({ ...BODY, ...sent }, making())
    const at = isFault(read)
      ? `${read.code} ${read.field ?? ''}`
      : read.submission.schedule?.deliverAt
    t.is(at, expected, JSON.stringify(sent))
    if (!isFault(read)) t.deepEqual(Object.keys(read.submission.fields), ['title'])
  }
})

test('the ttl of a Message that waits counts from its time', (t) => {
  t.is(ttlOf({ ...BODY, delay: '1h', ttl: 60 }), NOW_MS + 61 * MINUTE)
  const last = NOW_MS + 60 * MINUTE + TTL_MAX_MS
  t.is(ttlOf({ ...BODY, delay: '1h', ttl: last + 1 }), last)
})

function ttlOf(body: object): unknown {
  const read = readMessage(body, making())
  return isFault(read) ? read.code : read.submission.fields['ttl']
}

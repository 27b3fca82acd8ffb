import type { Priority } from 'apns2'
import test from 'ava'

import type { Severity } from '#domain/submission'
import { notificationOf } from '#src/providers/apns/apns'
import { contentOf } from '#src/providers/content'
import { messageOf } from '#src/providers/fcm/fcm'
import { afterMsFrom } from '#src/providers/retry-after'
import { parseEventId, parseThingId } from '#domain/identity'
import { pushOf } from '#test/support/push-servers'
import type { PushParts } from '#test/support/push-servers'

const NOW = 1_800_000_000_000
const lamp = parseThingId('lamp')
const fire = parseEventId('fire')
if (lamp === undefined || fire === undefined) throw new Error('not an id')
const THING = { model: 'thing', action: 'update', entityId: lamp, state: 'active', rev: 3 } as const
const EVENT = { model: 'event', action: 'update', entityId: fire, state: 'open', rev: 2 } as const
const CLOSED = { ...EVENT, action: 'close', state: 'closed' } as const
const ACKNOWLEDGED = { ...EVENT, action: 'acknowledge' } as const

// Specification: Severity mapping.
const SEVERITIES: readonly (readonly [Severity, string, number, string])[] = [
  ['critical', 'critical', 10, 'high'],
  ['high', 'time-sensitive', 10, 'high'],
  ['normal', 'active', 10, 'high'],
  ['low', 'passive', 5, 'normal'],
]

test('the severity of a push, also that of its Event, decides interruption level, sound and priorities', (t) => {
  const rows = SEVERITIES.flatMap(([severity, ...expected]) =>
    [
      { fields: { title: 'a', severity } },
      { entry: EVENT, fields: { message: 'a' }, present: { severity } },
    ].map((parts) => [severity, parts, ...expected] as const),
  )
  for (const [severity, parts, level, priority, android] of rows) {
    const push = pushOf('apns', parts)
    const notification = notificationOf(push, 'topic')
    const { aps } = notification.buildApnsOptions()
    t.is(aps['interruption-level'], level)
    t.is(notification.priority, priority as Priority)
    t.is('sound' in aps, severity !== 'low')
    t.is(messageOf(push, NOW).android?.priority, android as 'high')
  }
  for (const [severity] of SEVERITIES) {
    const fields = { title: 'a', severity }
    const quiet = notificationOf({ ...pushOf('apns', { fields }), isPassive: true }, '')
    t.is(quiet.buildApnsOptions().aps['interruption-level'], 'passive')
    t.false('sound' in quiet.buildApnsOptions().aps)
    t.is(
      messageOf({ ...pushOf('fcm', { fields }), isPassive: true }, NOW).android?.priority,
      'normal',
    )
  }
  const critical = notificationOf(
    pushOf('apns', { fields: { title: 'a', severity: 'critical' } }),
    '',
  )
  t.deepEqual(critical.buildApnsOptions().aps['sound'], { critical: 1, name: 'default', volume: 1 })
})

// Each row has an entry, and the title, body and severity of its push.
const ROWS: readonly (readonly [string, PushParts, readonly [string, string, Severity]])[] = [
  ['a Message', { fields: { title: 'T', body: 'B' } }, ['T', 'B', 'normal']],
  ['a Message without a body', { fields: { title: 'T' } }, ['T', '', 'normal']],
  [
    'an Event with one of the four severities',
    { entry: EVENT, fields: { title: 'T', message: 'M', severity: ' HIGH ' } },
    ['T', 'M', 'high'],
  ],
  [
    'an Event with a severity of its own',
    { entry: EVENT, fields: { status: 'S', severity: 'sev-1' }, entityTitle: 'Fire' },
    ['Fire', 'S', 'normal'],
  ],
  [
    'an Event that somebody has',
    {
      entry: ACKNOWLEDGED,
      fields: { acknowledged_by: 'Anna', acknowledged_at: 1 },
      entityTitle: 'Fire',
    },
    ['Fire', 'Acknowledged by Anna', 'low'],
  ],
  [
    'an Event that somebody without a name has, who says something',
    { entry: ACKNOWLEDGED, fields: { acknowledged_at: 1, note: 'On my way' }, entityTitle: 'Fire' },
    ['Fire', 'Acknowledged: On my way', 'low'],
  ],
  [
    'an Event whose severity is cleared',
    { entry: EVENT, fields: { severity: '' }, present: { severity: 'high' } },
    ['fire', 'open', 'normal'],
  ],
  [
    'the end of a critical Event',
    { entry: CLOSED, fields: {}, present: { severity: 'critical' } },
    ['fire', 'closed', 'normal'],
  ],
  [
    'the end of an Event of no importance',
    { entry: CLOSED, fields: {}, present: { severity: 'low' } },
    ['fire', 'closed', 'low'],
  ],
  [
    'the end of an Event that says how grave it is',
    { entry: CLOSED, fields: { severity: 'high' }, present: { severity: 'low' } },
    ['fire', 'closed', 'high'],
  ],
  ['an Event without fields', { entry: EVENT, fields: {} }, ['fire', 'open', 'normal']],
  [
    'a Thing with changed attributes',
    { entry: THING, fields: { attrs: { on: true, level: 3, gone: null } }, entityTitle: 'Lamp' },
    ['Lamp', 'on true, level 3, gone –', 'low'],
  ],
  [
    'a Thing with a description',
    {
      entry: THING,
      fields: { title: 'New', description: 'D', attrs: { a: 1 } },
      entityTitle: 'Old',
    },
    ['New', 'D', 'low'],
  ],
]

for (const [name, parts, [title, body, severity]] of ROWS) {
  test(`the push of ${name} has the expected title, text and severity`, (t) => {
    t.like(contentOf(pushOf('fcm', parts)), { title, body, severity })
  })
}

test('all data fields of a push are text: objects and lists as JSON, numbers as digits', (t) => {
  const fields = {
    title: 'T',
    images: ['https://a'],
    metadata: { a: 1 },
    attrs: { on: null },
    observed_at: 17,
    thing_id: 'lamp',
    ciphertext: 'c',
    url: 'u',
  }
  const { data } = contentOf(pushOf('fcm', { entry: THING, fields }))
  t.like(data, {
    images: '["https://a"]',
    metadata: '{"a":1}',
    attrs: '{"on":null}',
    observed_at: '17',
    thing_id: 'lamp',
    ciphertext: 'c',
    url: 'u',
    state: 'active',
    rev: '3',
  })
  t.true(Object.values(data).every((value) => typeof value === 'string'))
})

test('a push of 4,096 bytes has the whole entry, a larger one makes the app fetch it', (t) => {
  const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))
  const apple = (body: string) =>
    notificationOf(pushOf('apns', { fields: { title: 'T', body } }), '').buildApnsOptions()
  const google = (body: string) =>
    messageOf(pushOf('fcm', { fields: { title: 'T', body } }), NOW).data
  // Apple's payload has the text twice: in the alert and in the data.
  const rows = [
    [apple, 2],
    [google, 1],
  ] as const
  for (const [payloadOf, times] of rows) {
    const room = 4_096 - bytesOf(payloadOf(''))
    const longest = Math.floor(room / times)
    const whole = payloadOf('x'.repeat(longest))
    t.true(bytesOf(whole) <= 4_096)
    t.false('wakeup' in (whole ?? {}))
    const large = payloadOf('x'.repeat(longest + 1))
    t.like(large, { wakeup: '1', title: 'T' })
    t.true(bytesOf(large) < 1_500)
    t.regex(String(large?.['body']), /^x{159}…$/)
  }
})

test('a wake-up with the longest ids, title and text has at most 4,096 bytes', (t) => {
  const long = '😀'.repeat(8_000)
  const push = pushOf('apns', { fields: { title: long, body: long }, entry: { entityId: lamp } })
  const payload = notificationOf(push, 'topic').buildApnsOptions()
  t.is(payload['wakeup'], '1')
  t.true(Buffer.byteLength(JSON.stringify(payload)) <= 4_096)
  t.true(String(payload['title']).isWellFormed())
})

test("Google's message has the remaining time in whole seconds, at most four weeks", (t) => {
  const ttl = (expiresAt: number) => messageOf(pushOf('fcm', { expiresAt }), NOW).android?.ttl
  t.is(ttl(NOW + 1_999), 1_000)
  t.is(ttl(NOW - 1), 0)
  t.is(ttl(NOW + 30 * 86_400_000), 28 * 86_400_000)
})

test('Retry-After is a number of seconds or a date, and counts for at most an hour', (t) => {
  t.is(afterMsFrom('7', NOW), 7_000)
  t.is(afterMsFrom('86400', NOW), 3_600_000)
  t.is(afterMsFrom(new Date(NOW + 5_000).toUTCString(), NOW), 5_000)
  t.is(afterMsFrom(new Date(NOW - 5_000).toUTCString(), NOW), undefined)
  for (const header of ['', ' ', 'soon', '-1', undefined, 7])
    t.is(afterMsFrom(header, NOW), undefined)
})

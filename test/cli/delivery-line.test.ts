// Goal: a delivery becomes one line, and nothing in it can act on a terminal.
// Method: one row for each kind of delivery, in UTC.

import test from 'ava'
import { assert, property, string } from 'fast-check'

import { clockIn, coloured, deliveryLine } from '#src/cli/deliveries/delivery-line'
import { deliveryJson } from '#src/cli/deliveries/delivery-members'
import { aligned, dateText, shortened } from '#src/cli/terminal-text'
import { delivery } from '#test/support/delivery'

const clock = clockIn('UTC')
const MESSAGE = { model: 'message', action: 'send', entity_id: 'a'.repeat(32) }

const rows: [members: Readonly<Record<string, unknown>>, line: string][] = [
  [
    { payload: { observed_at: 1, attrs: { temperature: 21.5, mode: 'eco', fan: null } } },
    '12:03:44  Home              thing    update   boiler  temperature=21.5  mode=eco  -fan',
  ],
  [
    { action: 'create', payload: { title: 'The boiler', attrs: { at: { x: 1 } } } },
    '12:03:44  Home              thing    create   boiler "The boiler"  at={"x":1}',
  ],
  [
    { payload: { title: '', description: '', ciphertext: '' } },
    '12:03:44  Home              thing    update   boiler  title=""  description=""  ciphertext=""',
  ],
  [
    { ...MESSAGE, payload: { title: 'Backup done', body: 'in\n3 minutes', severity: 'normal' } },
    '12:03:44  Home              message  send     Backup done  body="in 3 minutes"',
  ],
  [
    { ...MESSAGE, payload: { title: 'Disk full', severity: 'high', ciphertext: 'c2VjcmV0' } },
    '12:03:44  Home              message  send     Disk full  severity=high  (encrypted)',
  ],
  [
    {
      model: 'event',
      action: 'close',
      entity_id: 'e1',
      payload: { status: 'over', event_time: 1 },
    },
    '12:03:44  Home              event    close    e1  status=over',
  ],
]

test('deliveryLine writes a delivery as one aligned line', (t) => {
  for (const [members, line] of rows) {
    t.is(deliveryLine(delivery(members), { channelName: 'Home', clock }), line)
  }
})

test('deliveryLine cuts a line at the width of the terminal', (t) => {
  const wide = delivery({ payload: { attrs: { text: 'x'.repeat(500) } } })
  const options = { channelName: 'A channel with a long name', clock }
  const line = deliveryLine(wide, { ...options, width: 60 })
  t.is(line.length, 60)
  t.true(line.startsWith('12:03:44  A channel with…   thing'))
  t.true(deliveryLine(wide, options).length < 140)
})

test('no text of a sender can act on the terminal', (t) => {
  const unprintable = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/
  const row = property(string({ unit: 'binary' }), string({ unit: 'binary' }), (a, b) => {
    const sent = delivery({
      payload: { title: a, message: b, attrs: { [a]: b, other: { [b]: a } } },
    })
    t.notRegex(deliveryLine(sent, { channelName: a, clock }), unprintable)
  })
  assert(row)
  const escape = delivery({ ...MESSAGE, payload: { title: '\u001b[2Jgone\u202e' } })
  t.true(deliveryLine(escape, { channelName: '', clock }).endsWith('?[2Jgone?'))
})

test('the JSON of a delivery is one line with the names of the session protocol', (t) => {
  const sent = delivery({ state: 'active', rev: 3, payload: { a: '\n' } })
  const line = deliveryJson({ delivery: sent, channelName: 'Home' })
  t.notRegex(line, /\n/)
  t.like(JSON.parse(line), {
    channel_id: '01234567890123456789012344',
    channel_name: 'Home',
    entity_id: 'boiler',
    rev: 3,
    payload: { a: '\n' },
  })
})

test('aligned makes the columns of rows line up, as a terminal draws them', (t) => {
  t.deepEqual(aligned([['a', 'bb', 'c'], ['aaa', 'b'], []]), ['a    bb  c', 'aaa  b', ''])
  t.deepEqual(
    aligned([
      ['温室', 'x'],
      ['🔥e\u0301', 'y'],
      ['abcd', 'z'],
    ]),
    ['温室  x', '🔥e\u0301   y', 'abcd  z'],
  )
  for (const [text, columns, short] of [
    ['温室北侧', 8, '温室北侧'],
    ['温室北侧', 7, '温室北…'],
    ['🔥🔥🔥', 5, '🔥🔥…'],
    ['Ofen', 3, 'Of…'],
  ] as const) {
    t.is(shortened(text, columns), short)
  }
})

test('a line can have the date and leave the channel out', (t) => {
  const line = deliveryLine(delivery({}), { clock: dateText })
  t.is(line, '2026-01-31T12:03:44.000Z  thing    update   boiler')
})

test('a line has the colour of its severity, and none without', (t) => {
  const of = (severity: string) => coloured(delivery({ payload: { severity } }), 'x')
  t.is(of('critical'), '\u001b[1;31mx\u001b[0m')
  t.is(of('HIGH'), '\u001b[33mx\u001b[0m')
  t.is(of('normal'), 'x')
  t.is(of('constructor'), 'x')
})

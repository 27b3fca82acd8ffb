// Goal: the frame shows the state of the device, in any size of terminal.
// Method: fold a scene from deliveries, and draw it in several sizes.

import test from 'ava'

import { parseChannelId } from '#domain/identity'
import { Audience } from '#src/dev/demo/audience'
import { frameOf } from '#src/dev/demo/frame'
import { clockIn } from '#src/cli/deliveries/delivery-line'
import { Tally } from '#src/dev/demo/tally'
import { readGatewayFrame } from '#src/schemas/read-frames'

const CHANNEL = '01234567890123456789012344'

function audienceOf(deliveries: readonly Readonly<Record<string, unknown>>[]) {
  const channelId = parseChannelId(CHANNEL)
  if (channelId === undefined) throw new Error('the channel id has the form of one')
  const tally = new Tally()
  const audience = new Audience(channelId, tally)
  for (const [index, members] of deliveries.entries()) {
    const frame = readGatewayFrame(
      JSON.stringify({
        type: 'deliver',
        channel_id: CHANNEL,
        seq: index + 1,
        delivery_id: `${CHANNEL}-${index + 1}`,
        op_id: `op${index}`,
        model: 'thing',
        action: 'update',
        state: 'active',
        rev: 1,
        accepted_at: 0,
        ...members,
      }),
    )
    if (frame?.kind !== 'deliver') throw new Error('the frame is a delivery')
    audience.received(frame, 0)
  }
  return audience
}

const SMALL = { attrs: { cpu_percent: 1.5, memory_bytes: 2048 } }
const BIG = { attrs: { cpu_percent: 93, memory_bytes: 5 * 2 ** 30 } }
const HOST = { cpu_percent: 7, uptime_seconds: 90_061, load_1m: 0.5 }

const DELIVERIES = [
  { entity_id: 'proc:1', payload: { title: 'small\u001b[2J', ...SMALL } },
  { entity_id: 'proc:2', payload: { title: 'big', ...BIG } },
  { entity_id: 'host', payload: { title: 'vm', attrs: HOST } },
  { entity_id: 'net:eth0', payload: { title: 'eth0', attrs: { rx_bytes_per_second: 1536 } } },
  { entity_id: 'gone', payload: { attrs: { a: 1 } } },
  { entity_id: 'gone', action: 'archive', state: 'archived', payload: {} },
  { entity_id: 'host', payload: { attrs: { cpu_percent: 8 } } },
]

const EVENT = { entity_id: 'e1', model: 'event', state: 'open' }

function sceneOf(audience: Audience) {
  return {
    heading: 'heliograph demo',
    address: '',
    things: audience.things,
    openEvents: audience.openEvents,
    recent: Array.from({ length: 50 }, (_, index) => `delivery ${index}`),
    pushes: [] as readonly string[],
    count: '7 sent',
    clock: clockIn('UTC'),
  }
}

test('the frame shows the newest values by kind with units, the busiest process first', (t) => {
  const scene = sceneOf(audienceOf(DELIVERIES))
  const lines = frameOf(scene, { columns: 100, rows: 40 }).map(({ text }) => text)
  t.deepEqual(lines.slice(0, 6), [
    'heliograph demo',
    'Things',
    'host      vm         cpu   8.0 %  load_1m 0.5  uptime 1 d 01:01:01',
    'net:eth0  eth0       rx    1.5 KiB/s',
    'proc:2    big        cpu  93.0 %  memory    5.0 GiB',
    'proc:1    small?[2J  cpu   1.5 %  memory    2.0 KiB',
  ])
  t.is(lines.at(-1), '7 sent')
  t.is(lines.at(-3), 'delivery 49')
})

test('the frame shows an Event while it is open', (t) => {
  const create = { ...EVENT, action: 'create', payload: { title: 'load is high' } }
  const update = { ...EVENT, action: 'update', payload: { message: '91 %' } }
  const close = { ...EVENT, action: 'close', state: 'closed', payload: {} }
  const text = (deliveries: readonly Readonly<Record<string, unknown>>[]): string =>
    frameOf(sceneOf(audienceOf(deliveries)), { columns: 100, rows: 40 })
      .map((line) => line.text)
      .join('\n')
  t.regex(text([create, update]), /Open Events\nload is high {2}since 00:00:00 {2}91 %/)
  t.notRegex(text([create, update, close]), /Open Events/)
})

test('the frame shows the newest pushes below the deliveries where it has room', (t) => {
  const pushes = Array.from({ length: 50 }, (_, index) => `push ${index}`)
  const scene = { ...sceneOf(audienceOf(DELIVERIES)), pushes }
  const lines = frameOf(scene, { columns: 100, rows: 40 }).map(({ text }) => text)
  t.is(lines.length, 40)
  t.deepEqual(lines.slice(-10, -2), [
    '',
    'Last pushes',
    ...Array.from({ length: 6 }, (_, index) => `push ${44 + index}`),
  ])
  t.false(frameOf(scene, { columns: 100, rows: 19 }).some(({ text }) => text === 'Last pushes'))
})

test('the address of the console is one line that the terminal wraps, where there is room', (t) => {
  const address = 'x'.repeat(130)
  const scene = { ...sceneOf(audienceOf(DELIVERIES)), address }
  const linesIn = (rows: number): readonly string[] =>
    frameOf(scene, { columns: 100, rows }).map(({ text }) => text)
  t.deepEqual(linesIn(40).slice(0, 3), ['heliograph demo', address, 'Things'])
  t.is(linesIn(40).length, 39) // It takes two rows.
  t.is(linesIn(21)[1], address)
  t.is(linesIn(20)[1], 'Things')
})

test('the frame fits every terminal, and the count is the last line where it has room', (t) => {
  const scene = {
    ...sceneOf(audienceOf(DELIVERIES)),
    address: 'x'.repeat(130),
    pushes: ['a push'],
  }
  for (const rows of [1, 2, 5, 8, 12, 24, 200]) {
    for (const columns of [1, 20, 80]) {
      const lines = frameOf(scene, { columns, rows })
      const others = lines.filter(({ text }) => text !== scene.address)
      const addressRows = others.length < lines.length ? Math.ceil(130 / columns) : 0
      t.true(others.length + addressRows <= rows, `${rows}`)
      t.true(others.every(({ text }) => text.length <= columns))
      if (rows >= 5 && columns >= 20) t.is(lines.at(-1)?.text, '7 sent')
    }
  }
})

// Goal: an Event is one notification of the topic style's clients, from its first entry to its end.

import test from 'ava'

import type { FeedEntry } from '#domain/feed'
import { parseEventId } from '#domain/identity'
import { TOPIC } from '#test/support/compatibility-rig'
import type { Rig } from '#test/support/start-ingress'
import {
  Subscriber,
  linesOf,
  messageOf,
  read,
  startTopics,
  titles,
} from '#test/support/topic-subscribers'
import { until } from '#test/support/until'

type Step = readonly [action: FeedEntry['action'], fields: object]

/** An entry of an Event as the feed keeps it, with the times of `messageOf`. */
function entryOf(rig: Rig, seq: number, [action, fields]: Step, id = 'fire'): FeedEntry {
  const entityId = parseEventId(id)
  if (entityId === undefined) throw new Error('bad fixture')
  const state = action === 'close' ? 'closed' : 'open'
  return { ...messageOf(rig, seq, fields), model: 'event', action, entityId, state, rev: seq }
}

const LIFE: readonly Step[] = [
  ['create', { title: 'Freezer', message: 'Too warm', severity: 'high', tags: ['cold'] }],
  ['remind', { title: 'Freezer', severity: 'high', reminders: 1 }],
  ['escalate', { title: 'Freezer', severity: 'critical', level: 2 }],
  ['acknowledge', { acknowledged_at: 1, acknowledged_by: 'anna', note: 'On my way' }],
  ['update', { message: 'Door was open', images: ['https://example.com/door.png?at=1'] }],
  ['close', { ended_at: 2 }],
]

/** A channel that keeps nothing but one Event, from its beginning to its end. */
async function startLife(t: Parameters<typeof startTopics>[0], id?: string): Promise<Rig> {
  const rig = await startTopics(t)
  rig.reads.entries = LIFE.map((step, at) => entryOf(rig, at + 1, step, id))
  rig.reads.addEvent(id ?? 'fire', { title: 'Freezer', severity: 'critical' })
  return rig
}

test('the entries of an Event are messages with one sequence id, and its end clears them', async (t) => {
  const rig = await startLife(t)
  const lines = linesOf((await read(rig, `${TOPIC}/json?poll=1`)).text)
  const told = { event: 'message', sequence_id: 'fire', title: 'Freezer' }
  t.like(lines, [
    { ...told, message: 'Too warm', priority: 4, tags: ['cold'] },
    { ...told, message: 'Reminder 1', priority: 4 },
    { ...told, message: 'Nobody has it: level 2', priority: 5 },
    // Who has it is nothing to be woken for.
    { ...told, message: 'Acknowledged by anna: On my way', priority: 2 },
    { ...told, message: 'Door was open', priority: 5, attachment: { name: 'door.png' } },
    { event: 'message_clear', sequence_id: 'fire', topic: lines[0]?.['topic'] },
  ])
  t.deepEqual(Object.keys(lines[5] ?? {}), ['id', 'time', 'event', 'topic', 'sequence_id'])
  const ids = lines.map(({ id }) => String(id))
  t.is(new Set(ids).size, LIFE.length)
  for (const id of ids) t.regex(id, /^[A-Za-z0-9]{12}$/)
  const behind = await read(rig, `${TOPIC}/json?poll=1&since=${ids[2]}`)
  t.deepEqual(
    linesOf(behind.text).map(({ id }) => id),
    ids.slice(3),
  )
  t.deepEqual(
    linesOf((await read(rig, `${TOPIC}/json?poll=1&since=latest`)).text).map(({ id }) => id),
    ids.slice(5),
  )
})

test('a sequence id has no colon, as that of an Event may have', async (t) => {
  const rig = await startLife(t, 'plant:7')
  const ids = linesOf((await read(rig, `${TOPIC}/json?poll=1`)).text).map(
    (line) => line['sequence_id'],
  )
  t.is(new Set(ids).size, 1)
  t.regex(String(ids[0]), /^[A-Za-z0-9_-]{1,64}$/)
})

test('an entry without a title has that of its Event, which is read once; without any, its id', async (t) => {
  const rig = await startTopics(t)
  rig.reads.entries = [1, 2, 3].map((seq) => entryOf(rig, seq, ['update', { status: `${seq}` }]))
  const asked: string[] = []
  const event = rig.reads.event.bind(rig.reads)
  rig.reads.event = async (channelId, id) => {
    asked.push(id)
    return event(channelId, id)
  }
  const poll = async () => linesOf((await read(rig, `${TOPIC}/json?poll=1&since=1s`)).text)
  rig.reads.entries.forEach((entry) => Object.assign(entry, { acceptedAt: rig.time.nowMs() }))
  t.deepEqual(
    (await poll()).map(({ title, message, priority }) => [title, message, priority]),
    ['1', '2', '3'].map((status) => ['fire', status, undefined]),
  )
  t.deepEqual(asked, ['fire'])
  rig.reads.addEvent('fire', { title: 'Fire', severity: 'LOW' })
  t.like((await poll())[0], { title: 'Fire', priority: 2 })
})

test('filters choose among messages, and leave the end of an Event in', async (t) => {
  const rig = await startLife(t)
  const { text } = await read(rig, `${TOPIC}/json?poll=1&priority=5&message=Door was open`)
  t.deepEqual(
    linesOf(text).map(({ event, message }) => [event, message]),
    [
      ['message', 'Door was open'],
      ['message_clear', undefined],
    ],
  )
})

test('the end of an Event is data without a name in events, and a blank line in plain text', async (t) => {
  const rig = await startLife(t)
  rig.reads.entries = rig.reads.entries.slice(-1)
  t.regex(
    (await read(rig, `${TOPIC}/sse?poll=1`)).text,
    /^data: \{[^\n]+"message_clear"[^\n]+\n\n$/,
  )
  t.is((await read(rig, `${TOPIC}/raw?poll=1`)).text, '\n')
})

test('reminders reach a subscriber as they come', async (t) => {
  const rig = await startTopics(t)
  const subscriber = new Subscriber(t, rig, `${TOPIC}/ws`)
  await subscriber.until(1)
  await until('the feed was read', () => rig.reads.queries.length > 0)
  const reminder = entryOf(rig, 8, ['remind', { title: 'Freezer', severity: 'high', reminders: 7 }])
  rig.reads.entries.push(reminder)
  rig.bus.announce([{ channelId: rig.channelId, entries: [reminder] }])
  await subscriber.until(2)
  t.like(subscriber.frames[1], { sequence_id: 'fire', message: 'Reminder 7', priority: 4 })
  for (const query of rig.reads.queries) t.like(query, { models: ['message', 'event'] })
})

test('Messages and Events come in the order of the feed', async (t) => {
  const rig = await startTopics(t)
  rig.reads.entries.push(
    entryOf(rig, 4, ['create', { title: 'E4' }]),
    messageOf(rig, 5, { title: 'T5' }),
  )
  t.deepEqual(titles((await read(rig, `${TOPIC}/json?poll=1`)).text), [
    'T1',
    'T2',
    'T3',
    'E4',
    'T5',
  ])
})

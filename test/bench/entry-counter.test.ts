import test from 'ava'

import { EntryCounter, emptyTally, numberAt } from './load/entry-counter.ts'
import { DUE_BASE_US } from './load/payload.ts'

const frame = (channel: string, seq: number, more = ''): string =>
  `{"type":"deliver","channel_id":"${channel}","seq":${seq},"op_id":"1-2"${more}}`

test('entry-counter/1: an entry that comes again is counted as repeated, per channel', (t) => {
  const tally = emptyTally()
  const counter = new EntryCounter(tally)
  for (const text of [frame('A', 1), frame('B', 1), frame('A', 2)]) t.truthy(counter.count(text))
  for (const text of [frame('A', 2), frame('A', 1)]) t.is(counter.count(text), undefined)
  t.like(tally, { entries: 3, repeated: 2, skipped: 0 })
})

test('entry-counter/2: sequence numbers that were passed over are counted, also before the first entry', (t) => {
  const tally = emptyTally()
  const counter = new EntryCounter(tally)
  counter.count(frame('A', 3, ',"action":"sync"'))
  counter.count(frame('A', 10))
  t.like(tally, { entries: 2, skipped: 8, synced: 1 })
})

test('an entry carries when its submission was due, if a schedule made it', (t) => {
  const counter = new EntryCounter(emptyTally())
  const due = `,"payload":{"attrs":{"due":${DUE_BASE_US + 42}}}`
  t.deepEqual(counter.count(frame('A', 1, due)), { channel: 'A', seq: 1, dueUs: 42 })
  t.deepEqual(counter.count(frame('A', 2)), { channel: 'A', seq: 2, dueUs: undefined })
})

test('a number is read behind its name; a name that is not there gives 0', (t) => {
  t.is(numberAt('{"seq":42,"x":1}', '"seq":'), 42)
  t.is(numberAt('{"due":1000000123456789}', '"due":'), 1_000_000_123_456_789)
  t.is(numberAt('{"seq":42}', '"due":'), 0)
})

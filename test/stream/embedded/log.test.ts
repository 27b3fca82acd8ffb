import test from 'ava'

import { isOfChannel } from '#actors/turn-item'
import { EmbeddedReader } from '#src/stream/embedded/reader'
import { EmbeddedWriter } from '#src/stream/embedded/writer'
import { appendTo } from '#test/support/append-to'
import { FakeLogger, FakeMeter } from '#test/support/fake-telemetry'
import { MemoryLogTable } from '#test/support/memory-log-table'
import { message } from '#test/support/submissions'
import { OPTIONS, bench, batchOf, padded, hold } from '#test/support/embedded-log-bench'
import { turn } from '#test/support/until'

const UNAVAILABLE = { kind: 'refused', reason: 'unavailable', retryAfterMs: 1000 } as const

const portsOver = (table: MemoryLogTable) => ({
  table,
  meter: new FakeMeter(),
  logger: new FakeLogger(),
  soon: setImmediate,
  nowMs: () => 1,
  onFenced: () => undefined,
})

test('a reader gets the batches of each lane in order, with their submissions', async (t) => {
  const { log } = await bench()
  const [a, b, c, d] = [message(), message(), message(), message()]
  await log.append(batchOf(0, a, b))
  await log.append(batchOf(1, c))
  await log.append(batchOf(0, d))
  const entries = await log.read(0, 0, 10)
  t.deepEqual(
    entries.map(({ lane, position, submissions }) => [
      lane,
      position,
      submissions.map((one) => (isOfChannel(one) ? one.opId : '?')),
    ]),
    [
      [0, 1, [a.opId, b.opId]],
      [0, 3, [d.opId]],
    ],
  )
  t.deepEqual(
    (await log.read(1, 0, 10)).map(({ position }) => position),
    [2],
  )
  t.deepEqual(
    (await log.read(0, 1, 10)).map(({ position }) => position),
    [3],
  )
  t.deepEqual(await log.read(0, 3, 10), [])
  t.deepEqual(await log.read(9, 0, 10), [])
  t.deepEqual(await log.bounds(0), { first: 1, last: 3 })
  t.is(await log.identity(), 'memory table')
  t.is(log.appended(), 4)
})

test('W1: an append answers only after its transaction', async (t) => {
  const { log, table } = await bench()
  const release = hold(table)
  let isAnswered = false
  const appended = log.append(batchOf(0, message())).then((outcome) => {
    isAnswered = true
    return outcome
  })
  await turn()
  t.false(isAnswered)
  t.deepEqual(await log.read(0, 0, 10), [])
  await release()
  t.deepEqual(await appended, { kind: 'appended', position: 1 })
})

test('embedded-writer/1: appends of one pass of the event loop share one transaction', async (t) => {
  const { log, table } = await bench()
  const appended = [0, 1, 0].map((lane) => log.append(batchOf(lane, message())))
  await Promise.all(appended)
  t.deepEqual(table.transactions, [3])
})

test('embedded-writer/1: appends that arrive during a transaction share the next one', async (t) => {
  const { log, table } = await bench()
  const release = hold(table)
  const first = log.append(batchOf(0, message()))
  await turn()
  const others = [1, 0, 1, 0].map((lane) => log.append(batchOf(lane, message())))
  await turn()
  await release()
  t.like(await first, { kind: 'appended', position: 1 })
  await turn()
  await release()
  t.deepEqual(
    (await Promise.all(others)).map((outcome) => outcome.kind === 'appended' && outcome.position),
    [2, 3, 4, 5],
  )
  t.deepEqual(table.transactions, [1, 4])
})

test('embedded-writer/1: a transaction begins at once when none runs', async (t) => {
  const { log, table } = await bench()
  for (let count = 0; count < 3; count += 1) await log.append(batchOf(0, message()))
  t.deepEqual(table.transactions, [1, 1, 1])
})

test('a writer whose table cannot write refuses the group, frees its bytes, and goes on', async (t) => {
  const { log, table, logger, bytes } = await bench({ bytesMax: 1000 })
  table.beforeAppend = () => Promise.reject(new Error('disk I/O error'))
  const group = [log.append(padded(400)), log.append(padded(300)), log.append(padded(300))]
  for (const outcome of await Promise.all(group)) {
    t.deepEqual(outcome, { kind: 'refused', reason: 'unavailable', retryAfterMs: 1000 })
  }
  t.is(bytes(), 0)
  t.is(logger.lines[0]?.level, 'error')

  table.beforeAppend = () => Promise.resolve()
  t.like(await log.append(padded(1000)), { kind: 'appended' })
})

test('W2: a log refuses appends before a process has taken it over', async (t) => {
  const writer = await EmbeddedWriter.open(portsOver(new MemoryLogTable()), 1000)
  t.deepEqual(await writer.append(padded(10)), UNAVAILABLE)
  await writer.takeOver(0)
  t.like(await writer.append(padded(10)), { kind: 'appended' })
})

test('W2: a writer refuses appends and reports it once another process has taken the log over', async (t) => {
  const first = await bench()
  t.like(await first.log.append(batchOf(0, message())), { kind: 'appended' })
  const second = await bench({}, first.table)
  const group = [0, 1].map((lane) => first.log.append(batchOf(lane, message())))
  for (const outcome of await Promise.all(group)) t.deepEqual(outcome, UNAVAILABLE)
  t.deepEqual(await first.log.append(batchOf(0, message())), UNAVAILABLE)
  t.is(first.fences.length, 1)
  t.like(await second.log.append(batchOf(0, message())), { kind: 'appended', position: 2 })
  t.is((await second.log.read(0, 0, 10)).length, 2)
  t.is(second.fences.length, 0)
})

// Method: the log has three entries of two submissions each. Each row has `maxCount`, and the
// number of entries that a read gives, both from memory and from the table.
for (const [maxCount, entries] of [
  [1, 1],
  [2, 1],
  [3, 1],
  [4, 2],
  [5, 2],
  [100, 3],
] as const) {
  test(`a read of at most ${maxCount} submissions gives ${entries} entries of two`, async (t) => {
    const { log, table } = await bench()
    for (let count = 0; count < 3; count += 1) await log.append(batchOf(0, message(), message()))
    t.is((await log.read(0, 0, maxCount)).length, entries)
    const reopened = await bench({}, table)
    t.is((await reopened.log.read(0, 0, maxCount)).length, entries)
  })
}

test('embedded-reader/1: a reader at the tail reads from memory', async (t) => {
  const { log, table } = await bench()
  for (let position = 0; position < 5; position += 1) {
    await log.append(batchOf(0, message()))
    t.is((await log.read(0, position, 10)).length, 1)
  }
  t.is(table.reads, 0)
})

test('embedded-reader/1: a reader gives unapplied batches again to an owner that asks again', async (t) => {
  const { log } = await bench()
  await log.append(batchOf(0, message()))
  await log.append(batchOf(0, message()))
  for (let times = 0; times < 3; times += 1) t.is((await log.read(0, 0, 10)).length, 2)
  t.is((await log.read(0, 1, 10)).length, 1)
})

test('embedded-reader/1: a reader drops a tail beyond its bound and reads the table without a gap', async (t) => {
  const { log, table } = await bench({ tailBytesMax: 1000 })
  for (let count = 0; count < 5; count += 1) await log.append(padded(300))
  const positions = async (after: number) =>
    (await log.read(0, after, 1)).map(({ position }) => position)
  t.deepEqual(await positions(0), [1])
  t.is(table.reads, 1)
  t.deepEqual(await positions(1), [2])
  t.deepEqual(await positions(2), [3])
  t.deepEqual(await positions(3), [4])
  t.is(table.reads, 4)
  // The fourth exceeded the bound; the fifth is in the new tail.
  t.deepEqual(await positions(4), [5])
  t.is(table.reads, 4)
  t.deepEqual(await positions(5), [])
})

test('embedded-reader/1: a reader drops the tail of the lane that exceeds the bound, and no other', async (t) => {
  const { log, table } = await bench({ tailBytesMax: 1000 })
  await log.append(padded(300, 1))
  for (let count = 0; count < 3; count += 1) await log.append(padded(300, 0))
  t.is((await log.read(1, 0, 10)).length, 1)
  t.is(table.reads, 0)
  t.is((await log.read(0, 0, 10)).length, 3)
  t.is(table.reads, 1)
})

test('embedded-reader/1: a reader gives no entry twice that it read from the table first', async (t) => {
  // The table has a batch before the writer sends it: a reader behind the tail reads it there
  // first.
  const { log, table } = await bench({ tailBytesMax: 500 })
  await log.append(padded(300))
  await log.append(padded(300))
  const append = table.append.bind(table)
  let early = 0
  table.append = async (batches, appending) => {
    const positions = await append(batches, appending)
    early = (await log.read(0, 1, 10)).length
    await log.read(0, 3, 10)
    return positions
  }
  await log.append(padded(300))
  t.is(early, 2)
  t.deepEqual(await log.read(0, 3, 10), [])
})

test('a reader gets earlier entries from the table', async (t) => {
  const first = await bench()
  await first.log.append(batchOf(0, message()))
  const { log, table } = await bench({}, first.table)
  await log.append(batchOf(0, message()))
  t.deepEqual(
    (await log.read(0, 0, 10)).map(({ position }) => position),
    [1, 2],
  )
  t.is(table.reads, 1)
  t.deepEqual(
    (await log.read(0, 1, 10)).map(({ position }) => position),
    [2],
  )
  t.is(table.reads, 1)
})

test('a reader gives a broken submission as unreadable', async (t) => {
  const { log } = await bench()
  await log.append({ lane: 0, count: 3, payload: '[{"model":' })
  const [entry] = await log.read(0, 0, 10)
  t.is(entry?.submissions.length, 1)
  t.like(entry?.submissions[0], { model: 'unreadable', payload: '[{"model":' })
})

test('a reader wakes a watcher once for each lane of a transaction, when it can read', async (t) => {
  const { log, table } = await bench()
  const woken: [lane: number, readable: number][] = []
  const stop = log.watch((lane) => {
    void log.read(lane, 0, 100).then((entries) => woken.push([lane, entries.length]))
  })
  const release = hold(table)
  const first = log.append(batchOf(0, message()))
  await turn()
  const rest = [1, 0, 1].map((lane) => log.append(batchOf(lane, message())))
  await turn()
  t.deepEqual(woken, [])
  await release()
  await first
  await turn()
  t.deepEqual(woken, [[0, 1]])
  await release()
  await Promise.all(rest)
  await turn()
  t.deepEqual(woken.slice(1), [
    [1, 2],
    [0, 2],
  ])

  stop()
  const last = log.append(batchOf(0, message()))
  await turn()
  await release()
  await last
  await turn()
  t.is(woken.length, 3)
})

test('embedded-reader/2: a reader drops a batch that it has read from the table', async (t) => {
  const table = new MemoryLogTable()
  const [position = 0] = await appendTo(table, [batchOf(0, message())])
  const writer = await EmbeddedWriter.open(portsOver(table), 1000)
  const reader = await EmbeddedReader.open(writer, OPTIONS)
  // The writer sends the batch late, although it lies within the bounds that the reader has read.
  reader.take([{ ...batchOf(0, message()), position }])
  t.is((await reader.read(0, 0, 10)).length, 1)
  t.deepEqual(await reader.read(0, position, 10), [])
})

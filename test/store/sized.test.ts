// Method: sizes as a table of rows; the content that a page reads is seen in its statements.

import test from 'ava'

import { PAGE_BYTES_MAX } from '#domain/store-ports'
import { fill, roomFor } from '#src/store/statements/sized'
import { emptyFile } from '#test/support/sqlite-store'
import { ChannelWriter } from '#test/support/store-writer'
import { channel, message } from '#test/support/submissions'
import { openWatched } from '#test/support/watched-store'

/** Bytes that each item takes beside its content. */
const ENVELOPE = 400

const sizes = (...bytes: readonly number[]) =>
  bytes.map((each, index) => ({ id: index, seq: index + 1, bytes: each }))

test('sized/1: items fit up to the last byte, and the first one always', (t) => {
  const half = PAGE_BYTES_MAX / 2 - ENVELOPE
  const rows: readonly (readonly [bytes: readonly number[], items: number, count: number])[] = [
    [[half, half], 9, 2],
    [[half, half + 1], 9, 1],
    [[half, half, 0], 9, 2],
    [[1, 1, 1], 2, 2],
    [[PAGE_BYTES_MAX * 3], 9, 1],
    [[PAGE_BYTES_MAX * 3, 1], 9, 1],
    [[1, PAGE_BYTES_MAX * 3], 9, 1],
    [[PAGE_BYTES_MAX], 0, 0],
    [[], 9, 0],
  ]
  for (const [bytes, items, count] of rows) {
    t.is(fill(sizes(...bytes), roomFor(items)).count, count, JSON.stringify([bytes, items]))
  }
})

test('sized/1: a page with items takes no large one', (t) => {
  const { left } = fill(sizes(10), roomFor(9))
  t.deepEqual(left, { items: 8, bytes: PAGE_BYTES_MAX - ENVELOPE - 10, isEmpty: false })
  t.is(fill(sizes(left.bytes - ENVELOPE), left).count, 1)
  t.is(fill(sizes(left.bytes - ENVELOPE + 1), left).count, 0)
})

test('sized/1: content beyond the bound is not read', async (t) => {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const writer = await ChannelWriter.open(store, 1)
  for (let count = 0; count < 40; count += 1) {
    writer.take(message({ fields: { body: 'x'.repeat(100_000) } }))
  }
  await writer.commit()
  store.statements.texts.clear()
  const page = await store.read.history({ channelId: channel(1), limit: 200 })
  t.is(page.items.length, 10)
  const reading = [...store.statements.texts].filter(([text]) => /\bpayload\b/.test(text))
  for (const [text, parameters] of reading) {
    const isSizesOnly = /octet_length\(payload\) AS bytes/.test(text)
    if (!isSizesOnly) t.is((JSON.parse(String(parameters.flat()[0])) as object[]).length, 10)
  }
  t.is(reading.length, 2)
})

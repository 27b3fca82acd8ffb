// Goal: every batch within its bound fits into a NATS message, whatever characters it has.

import { BATCH_BYTES_MAX } from '#domain/lane'
import { appended, batchOf, idsOf, readAll } from '#test/contracts/log-contract'
import { connectNode, only, openLog, testsWithNats } from '#test/support/nats'

const testWithNats = testsWithNats()

/** A character with the most UTF-8 bytes for each UTF-16 code unit: three. */
const WIDE = '€'

testWithNats(
  'the largest batch fits into a message, also in wide characters',
  async (t, servers) => {
    const log = await openLog(t, await connectNode(t, only(servers).url))
    const ids = Array.from({ length: 25 }, (_, number) => `thing-${number}`)
    const empty = batchOf(1, ids, '').payload.length
    const batch = batchOf(1, ids, WIDE.repeat(Math.floor((BATCH_BYTES_MAX - empty) / ids.length)))
    t.true(batch.payload.length > BATCH_BYTES_MAX - ids.length)
    t.true(Buffer.byteLength(batch.payload) > 2.9 * BATCH_BYTES_MAX)
    await appended(log, batch)
    t.deepEqual(idsOf(await readAll(log, 1, ids.length)), ids)
  },
)

testWithNats(
  'jetstream-writer/3: a writer refuses a batch above max_payload instead of throwing',
  async (t, servers) => {
    const node = await connectNode(t, only(servers).url)
    const log = await openLog(t, node)
    const tooLarge = batchOf(1, ['a'], 'x'.repeat(2 ** 20))
    t.like(await log.append(tooLarge), { kind: 'refused', reason: 'unavailable' })
    t.is(node.meter.gauges.get('stream_pending_bytes')?.(), 0)
    t.true(
      node.logger.lines.some(({ level, fact }) => level === 'error' && /max_payload/.test(fact)),
    )
    await appended(log, batchOf(1, ['b']))
  },
)

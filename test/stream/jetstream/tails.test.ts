// Goal: the tails of all lanes together stay within one bound, also when lanes join one by one.

import { appended, batchOf } from '#test/contracts/log-contract'
import { until } from '#test/support/gateway'
import { connectNode, only, openLog, ownStream, testsWithNats } from '#test/support/nats'

const testWithNats = testsWithNats()

const TAIL_BYTES_MAX = 8 * 2 ** 20
/** Bytes by which jetstream-reader/1 lets a tail exceed its share: one largest message. */
const MESSAGE_BYTES_MAX = 2 ** 20 + 4096
const ENTRY = 'x'.repeat(250_000)

testWithNats(
  'jetstream-reader/1: lanes that join one by one share the byte bound',
  async (t, servers) => {
    const node = await connectNode(t, only(servers).url)
    const log = await openLog(t, node, { ...ownStream(), tailBytesMax: TAIL_BYTES_MAX })
    // Each lane has more bytes than its share when the reader first reads it.
    const lanes = [1, 2, 3, 4, 5]
    for (const lane of lanes) {
      const entries = Math.ceil(TAIL_BYTES_MAX / lane / ENTRY.length) + 8
      for (let entry = 0; entry < entries; entry += 1)
        await appended(log, batchOf(lane, ['a'], ENTRY))
    }
    const fetched = (): number => node.meter.gauges.get('stream_tail_bytes')?.() ?? 0
    let before = 0
    for (const lane of lanes) {
      const behind = before
      const entries = await until(
        () => log.read(lane, 0, 1),
        (found) => found.length > 0,
      )
      t.is(entries.length, 1, `lane ${lane} is readable, however much the others hold`)
      await until(
        () => node.connection.nats.flush(),
        () => fetched() > behind,
      )
      // Messages that exceed the room would arrive within these rounds.
      for (let round = 0; round < 200; round += 1) await node.connection.nats.flush()
      before = fetched()
    }
    const bound = TAIL_BYTES_MAX + lanes.length * MESSAGE_BYTES_MAX
    t.true(before <= bound, `${before} bytes, at most ${bound}`)
  },
)

// Goal: the end of a stream that its leader tells is believed only when it stays. (W5)
// Method: what a server tells about the stream is changed on its way, as a leader would tell it
// that has not yet stored what another server of its group has already handed out.

import type { StreamInfo } from '@nats-io/jetstream'
import type { JetStreamLog } from '#src/stream/jetstream/log'
import { appended, batchOf } from '#test/contracts/log-contract'
import { connectNode, only, openLog, ownStream, testsWithNats } from '#test/support/nats'
import type { Node } from '#test/support/nats'

const testWithNats = testsWithNats()

/** Pauses of a quarter of a second pass at once. */
const hurried = ({ timers, ...node }: Node): Node => ({
  ...node,
  timers: {
    after: (delayMs, callback) => timers.after(delayMs === 250 ? 0 : delayMs, callback),
  },
})

/** The next `times` reports end one entry too early. Gives how many were asked for. */
function tellTooLittle({ stream }: JetStreamLog, times: number): () => number {
  const { streams } = stream.manager
  const info = streams.info.bind(streams)
  let asked = 0
  streams.info = async (name): Promise<StreamInfo> => {
    asked += 1
    const report = await info(name)
    const missing = asked <= times ? 1 : 0
    return { ...report, state: { ...report.state, last_seq: report.state.last_seq - missing } }
  }
  return () => asked
}

testWithNats('W5: a leader that is behind for a moment has lost nothing', async (t, servers) => {
  const node = await connectNode(t, only(servers).url)
  const log = await openLog(t, hurried(node), ownStream())
  await appended(log, batchOf(1, ['a']))
  const asked = tellTooLittle(log, 5)
  await Promise.all([log.stream.verify(), log.stream.verify()])
  t.is(log.stream.mismatch, undefined)
  t.is(asked(), 6, 'those who wait look together')
  await appended(log, batchOf(1, ['b']))
})

testWithNats('W5: an end that stays too early is a loss', async (t, servers) => {
  const node = await connectNode(t, only(servers).url)
  const log = await openLog(t, hurried(node), ownStream())
  await appended(log, batchOf(1, ['a']))
  tellTooLittle(log, Infinity)
  await log.stream.verify()
  t.regex(log.stream.mismatch?.message ?? '', /ends at 0 but held 1: entries were lost/)
})

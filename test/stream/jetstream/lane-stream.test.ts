// Goal: a process counts an end of the stream that is too early as a loss only if it stays. (W5)
// Method: the test changes the server's report, as if the leader had not yet stored an entry that
// another server has already delivered.

import type { StreamInfo } from '@nats-io/jetstream'
import type { JetStreamLog } from '#src/stream/jetstream/log'
import { appended, batchOf } from '#test/contracts/log-contract'
import { connectNode, only, openLog, ownStream, testsWithNats } from '#test/support/nats'
import type { Node } from '#test/support/nats'

const testWithNats = testsWithNats()

/** Ends the pauses between two checks at once. */
const withoutPauses = ({ timers, ...node }: Node): Node => ({
  ...node,
  timers: {
    after: (delayMs, callback) => timers.after(delayMs === 250 ? 0 : delayMs, callback),
  },
})

/** Lets the next `times` reports end one entry too early. Gives the number of reports so far. */
function shortenReports({ stream }: JetStreamLog, times: number): () => number {
  const { streams } = stream.manager
  const info = streams.info.bind(streams)
  let reports = 0
  streams.info = async (name): Promise<StreamInfo> => {
    reports += 1
    const report = await info(name)
    const missing = reports <= times ? 1 : 0
    return { ...report, state: { ...report.state, last_seq: report.state.last_seq - missing } }
  }
  return () => reports
}

testWithNats('W5: a leader that lags behind for a moment is no loss', async (t, servers) => {
  const node = await connectNode(t, only(servers).url)
  const log = await openLog(t, withoutPauses(node), ownStream())
  await appended(log, batchOf(1, ['a']))
  const reports = shortenReports(log, 5)
  await Promise.all([log.stream.verify(), log.stream.verify()])
  t.is(log.stream.mismatch, undefined)
  t.is(reports(), 6, 'both calls share the checks')
  await appended(log, batchOf(1, ['b']))
})

testWithNats('W5: an end that stays too early is a loss', async (t, servers) => {
  const node = await connectNode(t, only(servers).url)
  const log = await openLog(t, withoutPauses(node), ownStream())
  await appended(log, batchOf(1, ['a']))
  shortenReports(log, Infinity)
  await log.stream.verify()
  t.regex(log.stream.mismatch?.message ?? '', /ends at 0 but held 1: entries were lost/)
})

// Goal: a node notices that the log lost entries, whether it read them itself or took a lane over
// from the node that did. (W5)

import { LogMismatch } from '#domain/lane'
import { appended, batchOf } from '#test/contracts/log-contract'
import { until } from '#test/support/gateway'
import {
  connectNode,
  connectOperator,
  only,
  openLog,
  ownStream,
  testsWithNats,
} from '#test/support/nats'

const testWithNats = testsWithNats()

testWithNats(
  'W5: a node that goes on behind entries that another one applied notices their loss',
  async (t, servers) => {
    const server = only(servers)
    const options = ownStream()
    const writer = await openLog(t, await connectNode(t, server.url), options)
    for (const id of ['a', 'b']) await appended(writer, batchOf(1, [id]))
    const applied = await appended(writer, batchOf(1, ['c']))
    const log = await openLog(t, await connectNode(t, server.url), options)
    t.deepEqual(await log.read(1, applied, 10), [])
    // The operator restores an older, empty copy of the stream with the same identity.
    const manager = await connectOperator(t, server.url)
    const { config } = await manager.streams.info(options.name ?? '')
    await manager.streams.delete(config.name)
    await manager.streams.add(config)
    await server.kill('SIGKILL')
    await server.restart()
    await until(
      () => Promise.resolve(log.stream.mismatch),
      (mismatch) => mismatch !== undefined,
    )
    await t.throwsAsync(log.read(1, applied, 10), { instanceOf: LogMismatch })
  },
)

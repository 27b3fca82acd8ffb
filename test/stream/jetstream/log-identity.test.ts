// Goal: a node opens only its own stream, and notices when another stream replaces that.

import { LogMismatch } from '#domain/lane'
import { StreamProbe } from '#src/stream/jetstream/probe'
import { appended, batchOf } from '#test/contracts/log-contract'
import { until } from '#test/support/gateway'
import {
  connectNode,
  connectOperator,
  freeze,
  only,
  openLog,
  ownStream,
  testsWithNats,
} from '#test/support/nats'

const testWithNats = testsWithNats()

testWithNats(
  'jetstream-writer/2: a node neither appends to a stream that lost entries nor reads it',
  async (t, servers) => {
    const { url } = only(servers)
    const options = ownStream()
    const log = await openLog(t, await connectNode(t, url), options)
    for (const id of ['a', 'b', 'c']) await appended(log, batchOf(1, [id]))
    const manager = await connectOperator(t, url)
    const { config } = await manager.streams.info(options.name ?? '')
    await manager.streams.delete(config.name)
    await manager.streams.add(config)
    t.like(await log.append(batchOf(1, ['d'])), { kind: 'refused', reason: 'unavailable' })
    await t.throwsAsync(log.read(1, 0, 10), { instanceOf: LogMismatch })
    t.like(await log.append(batchOf(1, ['e'])), { kind: 'refused' })
  },
)

testWithNats('W5: a node notices a replaced stream when it reconnects', async (t, servers) => {
  const server = only(servers)
  const options = ownStream()
  const node = await connectNode(t, server.url)
  const log = await openLog(t, node, options)
  const manager = await connectOperator(t, server.url)
  const { config } = await manager.streams.info(options.name ?? '')
  await manager.streams.delete(config.name)
  await manager.streams.add({ ...config, description: `heliograph log ${'0'.repeat(32)}` })
  await server.kill('SIGKILL')
  await server.restart()
  await until(
    () => Promise.resolve(log.stream.mismatch),
    (mismatch) => mismatch !== undefined,
  )
  await t.throwsAsync(log.read(1, 0, 10), { instanceOf: LogMismatch })
  const readiness = await new StreamProbe(node.connection, log.stream).readiness()
  t.false(readiness.ready)
})

testWithNats(
  'a NATS server alone does not pass for one with three copies of the log',
  async (t, servers) => {
    const node = await connectNode(t, only(servers).url)
    for (const isThere of [false, true]) {
      const options = ownStream()
      if (isThere) await openLog(t, node, options)
      await t.throwsAsync(openLog(t, node, { ...options, replicas: 3 }), {
        message:
          /^SERVICE_STREAM_REPLICAS=3 needs as many NATS servers in a cluster: .*(non-clustered|in none)/,
      })
    }
  },
)

for (const [whose, description, subjects, sentence] of [
  ['that no gateway made', '', 'lane.*.*', /not made by Heliograph/],
  ['of another installation', `heliograph log ${'0'.repeat(32)}`, 'other.*', /another install/],
] as const) {
  testWithNats(`W5: a node refuses a stream ${whose}`, async (t, servers) => {
    const { url } = only(servers)
    const options = ownStream()
    const manager = await connectOperator(t, url)
    const { name = '', prefix } = options
    await manager.streams.add({ name, description, subjects: [`${prefix}.${subjects}`] })
    const opening = openLog(t, await connectNode(t, url), options)
    await t.throwsAsync(opening, { instanceOf: LogMismatch, message: sentence })
  })
}

testWithNats('a node waits for a JetStream that does not answer yet', async (t, servers) => {
  const server = only(servers)
  const node = await connectNode(t, server.url)
  const frozen = await freeze(t, server)
  const opening = openLog(t, node)
  await until(
    () => Promise.resolve(node.logger.lines),
    (lines) => lines.some(({ fact }) => /JetStream does not answer/.test(fact)),
  )
  await frozen.go()
  t.like(await (await opening).append(batchOf(1, ['a'])), { kind: 'appended' })
})

testWithNats('nodes that open the log together agree on one identity', async (t, servers) => {
  const { url } = only(servers)
  const options = ownStream()
  const nodes = await Promise.all([1, 2, 3, 4].map(() => connectNode(t, url)))
  const logs = await Promise.all(nodes.map((node) => openLog(t, node, options)))
  const identities = await Promise.all(logs.map((log) => log.identity()))
  t.is(new Set(identities).size, 1)
})

testWithNats(
  'a node that starts gives an existing stream the configured byte bound',
  async (t, servers) => {
    const { url } = only(servers)
    const options = ownStream()
    await openLog(t, await connectNode(t, url), options)
    await openLog(t, await connectNode(t, url), { ...options, bytesMax: 2 ** 27 })
    const { config } = await (await connectOperator(t, url)).streams.info(options.name ?? '')
    t.is(config.max_bytes, 2 ** 27)
  },
)

testWithNats('the probe reports replicas and sync mode', async (t, servers) => {
  const server = only(servers)
  const node = await connectNode(t, server.url)
  const log = await openLog(t, node)
  const probe = new StreamProbe(node.connection, log.stream, { monitorUrl: server.monitorUrl })
  const { ready, detail } = await probe.readiness()
  t.true(ready)
  t.regex(detail, /1 replica.*sync (every \d+ s|always)/)
  await server.kill('SIGKILL')
  await until(
    () => probe.readiness(),
    (readiness) => !readiness.ready,
  )
  await server.restart()
  await until(
    () => probe.readiness(),
    (readiness) => readiness.ready,
  )
})

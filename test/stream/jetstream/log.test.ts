import type { ExecutionContext } from 'ava'
import { jetstreamManager } from '@nats-io/jetstream'

import type { Appended } from '#domain/lane'
import { LogMismatch } from '#domain/lane'
import { StreamProbe } from '#src/stream/jetstream/probe'
import { appended, batchOf, idsOf, readAll } from '#test/contracts/log-contract'
import { until } from '#test/support/gateway'
import { connectNode, freeze, only, openLog, ownStream, testsWithNats } from '#test/support/nats'

const testWithNats = testsWithNats()

async function operator(t: ExecutionContext, url: string) {
  const { connection } = await connectNode(t, url, 'operator')
  return jetstreamManager(connection.nats, { checkAPI: false })
}

testWithNats(
  'lane-writer/1: an append that is sent again is in the log once',
  async (t, servers) => {
    const server = only(servers)
    const node = await connectNode(t, server.url)
    const log = await openLog(t, node)
    await appended(log, batchOf(1, ['before']))
    const frozen = await freeze(t, server)
    const outcome = log.append(batchOf(1, ['again']))
    await until(
      () => Promise.resolve(node.meter.total('stream_appends_retried_total')),
      (retried) => retried > 0,
    )
    await frozen.go()
    t.is((await outcome).kind, 'appended')
    await appended(log, batchOf(1, ['after']))
    t.deepEqual(idsOf(await readAll(log, 1, 3)), ['before', 'again', 'after'])
  },
)

testWithNats(
  'lane-writer/3: what a server that hung stores late is told as unknown, found, and not stored twice',
  async (t, servers) => {
    const server = only(servers)
    const node = await connectNode(t, server.url)
    const log = await openLog(t, node)
    await appended(log, batchOf(1, ['before']))
    const frozen = await freeze(t, server)
    const outcomes = await Promise.all([
      log.append(batchOf(1, ['late'])),
      log.append(batchOf(1, ['behind'])),
    ])
    t.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['unknown', 'refused'],
    )
    await frozen.go()
    await until(
      () => Promise.resolve(node.meter.total('stream_appends_found_late_total')),
      (found) => found > 0,
      10_000,
    )
    await until(
      () => log.append(batchOf(1, ['after'])),
      ({ kind }) => kind === 'appended',
    )
    t.deepEqual(idsOf(await readAll(log, 1, 3)), ['before', 'late', 'after'])
    t.is(node.meter.total('stream_appends_found_late_total'), 1)
    t.is(node.meter.total('stream_appends_unknown_total'), 1)
  },
)

testWithNats('an append under way when the server dies is in the log once', async (t, servers) => {
  const server = only(servers)
  const log = await openLog(t, await connectNode(t, server.url))
  await appended(log, batchOf(1, ['a']))
  await server.kill('SIGKILL')
  const outcome = log.append(batchOf(1, ['b']))
  await server.restart()
  t.is((await outcome).kind, 'appended')
  await appended(log, batchOf(1, ['c']))
  t.deepEqual(idsOf(await readAll(log, 1, 3)), ['a', 'b', 'c'])
})

testWithNats(
  'jetstream-writer/1: while NATS is away appends are refused within a bound, later at once',
  async (t, servers) => {
    const server = only(servers)
    const node = await connectNode(t, server.url)
    const log = await openLog(t, node)
    await server.kill('SIGKILL')
    await until(
      () => Promise.resolve(node.connection.isConnected),
      (isConnected) => !isConnected,
    )
    const startMs = performance.now()
    const first = await log.append(batchOf(1, ['a']))
    t.like(first, { kind: 'refused', reason: 'unavailable' })
    t.true(performance.now() - startMs < 2500)
    const againMs = performance.now()
    t.like(await log.append(batchOf(1, ['b'])), { kind: 'refused' })
    t.true(performance.now() - againMs < 1000)
    await server.restart()
    await until(
      () => log.append(batchOf(1, ['c'])),
      ({ kind }) => kind === 'appended',
    )
  },
)

testWithNats(
  'jetstream-writer/1: bytes that wait for an answer are bounded',
  async (t, servers) => {
    const server = only(servers)
    const node = await connectNode(t, server.url)
    const log = await openLog(t, node, { ...ownStream(), pendingBytesMax: 50_000 })
    const frozen = await freeze(t, server)
    const outcomes: Promise<Appended>[] = []
    for (let lane = 0; lane < 20; lane += 1) {
      outcomes.push(log.append(batchOf(lane, ['a'], 'x'.repeat(10_000))))
      t.true((node.meter.gauges.get('stream_pending_bytes')?.() ?? 0) <= 50_000)
    }
    await frozen.go()
    const kinds = (await Promise.all(outcomes)).map(({ kind }) => kind)
    t.is(kinds.filter((kind) => kind === 'appended').length, 4)
    t.is(node.meter.gauges.get('stream_pending_bytes')?.(), 0)
  },
)

testWithNats(
  'jetstream-writer/2: a stream that lost its end takes nothing any more and is not read',
  async (t, servers) => {
    const { url } = only(servers)
    const options = ownStream()
    const log = await openLog(t, await connectNode(t, url), options)
    for (const id of ['a', 'b', 'c']) await appended(log, batchOf(1, [id]))
    const manager = await operator(t, url)
    const { config } = await manager.streams.info(options.name ?? '')
    await manager.streams.delete(config.name)
    await manager.streams.add(config)
    t.like(await log.append(batchOf(1, ['d'])), { kind: 'refused', reason: 'unavailable' })
    await t.throwsAsync(log.read(1, 0, 10), { instanceOf: LogMismatch })
    t.like(await log.append(batchOf(1, ['e'])), { kind: 'refused' })
  },
)

testWithNats(
  'W5: a stream that was replaced is noticed when the connection returns',
  async (t, servers) => {
    const server = only(servers)
    const options = ownStream()
    const node = await connectNode(t, server.url)
    const log = await openLog(t, node, options)
    const manager = await operator(t, server.url)
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
  },
)

for (const [whose, description, subjects, sentence] of [
  ['that was not made by a gateway', '', 'lane.*.*', /not made by Heliograph/],
  ['of an earlier version', `heliograph log ${'0'.repeat(32)}`, 'lane.*', /earlier version/],
  ['of another installation', `heliograph log ${'0'.repeat(32)}`, 'other.*', /another install/],
] as const) {
  testWithNats(`W5: a stream ${whose} is refused`, async (t, servers) => {
    const { url } = only(servers)
    const options = ownStream()
    const manager = await operator(t, url)
    const { name = '', prefix } = options
    await manager.streams.add({ name, description, subjects: [`${prefix}.${subjects}`] })
    const opening = openLog(t, await connectNode(t, url), options)
    await t.throwsAsync(opening, { instanceOf: LogMismatch, message: sentence })
  })
}

testWithNats('a JetStream that does not answer yet is waited for', async (t, servers) => {
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

testWithNats('a new byte bound is adopted at the next start', async (t, servers) => {
  const { url } = only(servers)
  const options = ownStream()
  await openLog(t, await connectNode(t, url), options)
  await openLog(t, await connectNode(t, url), { ...options, bytesMax: 2 ** 27 })
  const { config } = await (await operator(t, url)).streams.info(options.name ?? '')
  t.is(config.max_bytes, 2 ** 27)
})

testWithNats(
  'consumption/1: reading goes on after the server was killed, without a gap',
  async (t, servers) => {
    const server = only(servers)
    const log = await openLog(t, await connectNode(t, server.url))
    const writer = await openLog(t, await connectNode(t, server.url), ownStream())
    await writer.append(batchOf(1, ['of-another-stream']))
    await appended(log, batchOf(1, ['a']))
    const [entry] = await readAll(log, 1, 1)
    await server.kill('SIGKILL')
    await server.restart()
    const woken: number[] = []
    log.watch((lane) => woken.push(lane))
    await until(
      () => log.append(batchOf(1, ['b'])),
      ({ kind }) => kind === 'appended',
    )
    await until(
      () => Promise.resolve(woken),
      (lanes) => lanes.includes(1),
    )
    t.deepEqual(idsOf(await readAll(log, 1, 1, entry?.position)), ['b'])
  },
)

testWithNats(
  'consumption/1: a consumer that was deleted is made anew behind what was read',
  async (t, servers) => {
    const { url } = only(servers)
    const options = ownStream()
    const log = await openLog(t, await connectNode(t, url), options)
    await appended(log, batchOf(1, ['a']))
    const [entry] = await readAll(log, 1, 1)
    const manager = await operator(t, url)
    const consumers = await manager.consumers.list(options.name ?? '').next()
    t.is(consumers.length, 1)
    for (const { name } of consumers) await manager.consumers.delete(options.name ?? '', name)
    await appended(log, batchOf(1, ['b']))
    t.deepEqual(idsOf(await readAll(log, 1, 1, entry?.position)), ['b'])
  },
)

testWithNats(
  'jetstream-reader/1: what is fetched ahead is bounded, and nothing of it is left out',
  async (t, servers) => {
    const { url } = only(servers)
    const node = await connectNode(t, url)
    const log = await openLog(t, node, { ...ownStream(), tailBytesMax: 300_000 })
    for (let number = 0; number < 60; number += 1) {
      await appended(log, batchOf(1, [`n${number}`], 'x'.repeat(50_000)))
    }
    const fetched = (): number => node.meter.gauges.get('stream_tail_bytes')?.() ?? 0
    await log.read(1, 0, 1)
    await until(
      () => node.connection.nats.flush(),
      () => fetched() >= 300_000,
    )
    // What would come though there is no room comes within these rounds.
    for (let round = 0; round < 200; round += 1) await node.connection.nats.flush()
    const held = [fetched()]
    const ids: string[] = []
    let after = 0
    while (ids.length < 60) {
      const entries = await until(
        () => log.read(1, after, 1),
        (found) => found.length > 0,
      )
      held.push(fetched())
      ids.push(...idsOf(entries))
      after = entries.at(-1)?.position ?? after
    }
    t.deepEqual(
      ids,
      Array.from({ length: 60 }, (_, number) => `n${number}`),
    )
    t.true(Math.max(...held) <= 300_000 + 2 ** 20 + 4096, `at most ${Math.max(...held)}`)
  },
)

testWithNats('the lag is what was appended and is not applied', async (t, servers) => {
  const node = await connectNode(t, only(servers).url)
  const log = await openLog(t, node, { ...ownStream(), tailBytesMax: 300_000 })
  const lag = (): number => node.meter.gauges.get('lane_lag_submissions')?.() ?? -1
  t.is(lag(), 0)
  const positions: number[] = []
  for (let number = 0; number < 50; number += 1) {
    const ids = ['a', 'b', 'c'].map((name) => `${name}${number}`)
    positions.push(await appended(log, batchOf(1, ids, 'x'.repeat(50_000))))
  }
  await log.read(1, 0, 1)
  // Most of it is still at the server, which knows entries and not submissions.
  await until(
    () => Promise.resolve(lag()),
    (submissions) => submissions === 150,
  )
  for (const position of positions) {
    await until(
      () => log.read(1, position, 1),
      (found) => found.length > 0 || position === positions.at(-1),
    )
  }
  t.is(lag(), 0)
})

testWithNats('the probe tells replicas and sync mode', async (t, servers) => {
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

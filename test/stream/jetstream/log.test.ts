// Goal: whatever the server does, the log has a batch once, or its sender learns that it may not.

import type { ExecutionContext } from 'ava'

import type { Appended } from '#domain/lane'
import type { NatsServer } from '#src/dev/servers/nats'
import { APPEND_TIMEOUT_MS } from '#src/stream/jetstream/log'
import { appended, batchOf, idsOf, readAll } from '#test/contracts/log-contract'
import { until } from '#test/support/gateway'
import { connectNode, freeze, only, openLog, ownStream, testsWithNats } from '#test/support/nats'
import { realRuntime } from '#test/support/real-runtime'
import { turn } from '#test/support/until'

const testWithNats = testsWithNats()

/** A log with one batch in lane 1, whose server has stopped since. */
async function frozenLog(t: ExecutionContext, server: NatsServer) {
  const node = await connectNode(t, server.url)
  const log = await openLog(t, node)
  await appended(log, batchOf(1, ['before']))
  return { log, node, frozen: await freeze(t, server) }
}

testWithNats(
  'lane-writer/1: the log has a batch once that its writer sent twice',
  async (t, servers) => {
    const { log, node, frozen } = await frozenLog(t, only(servers))
    const outcome = log.append(batchOf(1, ['again']))
    await until(
      () => Promise.resolve(node.meter.total('stream_appends_retried_total')),
      (retried) => retried > 0,
    )
    await frozen.go()
    t.is((await outcome).kind, 'appended')
    await appended(log, batchOf(1, ['after']))
    const entries = await readAll(log, 1, 3)
    t.deepEqual(idsOf(entries), ['before', 'again', 'after'])
    t.true(entries.every(({ writer }) => writer === log.writer))
  },
)

testWithNats(
  'lane-writer/3: a batch that a server stores late is unknown, found later, and stored once',
  async (t, servers) => {
    const { log, node, frozen } = await frozenLog(t, only(servers))
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

testWithNats(
  'the log has a batch once that was in flight when the server died',
  async (t, servers) => {
    const server = only(servers)
    const log = await openLog(t, await connectNode(t, server.url))
    await appended(log, batchOf(1, ['a']))
    await server.kill('SIGKILL')
    const outcome = log.append(batchOf(1, ['b']))
    await server.restart()
    t.is((await outcome).kind, 'appended')
    await appended(log, batchOf(1, ['c']))
    t.deepEqual(idsOf(await readAll(log, 1, 3)), ['a', 'b', 'c'])
  },
)

testWithNats(
  'jetstream-writer/1: without NATS a writer refuses appends in time, and later ones at once',
  async (t, servers) => {
    const server = only(servers)
    const clock = { aheadMs: 0 }
    const monotonicMs = (): number => realRuntime.monotonicMs() + clock.aheadMs
    const node = await connectNode(t, server.url, 'test', { ...realRuntime, monotonicMs })
    const log = await openLog(t, node)
    await server.kill('SIGKILL')
    await until(
      () => Promise.resolve(node.connection.isConnected),
      (isConnected) => !isConnected,
    )
    const first = log.append(batchOf(1, ['a']))
    clock.aheadMs = APPEND_TIMEOUT_MS
    t.like(await first, { kind: 'refused', reason: 'unavailable' })
    t.like(await Promise.race([log.append(batchOf(1, ['b'])), turn()]), { kind: 'refused' })
    await server.restart()
    await until(
      () => log.append(batchOf(1, ['c'])),
      ({ kind }) => kind === 'appended',
    )
  },
)

testWithNats(
  'jetstream-writer/1: a writer bounds the bytes of unanswered appends',
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

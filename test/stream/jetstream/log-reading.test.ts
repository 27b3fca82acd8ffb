// Goal: a reader gets every batch once and in order, within its byte bound, whatever the server
// does.

import { appended, batchOf, idsOf, readAll } from '#test/contracts/log-contract'
import { until } from '#test/support/gateway'
import {
  connectNode,
  connectOperator,
  only,
  openLog,
  ownStream,
  testsWithNats,
} from '#test/support/nats'
import { rounds } from '#test/support/until'

const testWithNats = testsWithNats()

testWithNats(
  'consumption/1: a reader goes on without a gap after the server was killed',
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
  'consumption/1: a reader recreates a deleted consumer behind the last entry read',
  async (t, servers) => {
    const { url } = only(servers)
    const options = ownStream()
    const log = await openLog(t, await connectNode(t, url), options)
    await appended(log, batchOf(1, ['a']))
    const [entry] = await readAll(log, 1, 1)
    const manager = await connectOperator(t, url)
    const consumers = await manager.consumers.list(options.name ?? '').next()
    t.is(consumers.length, 1)
    for (const { name } of consumers) await manager.consumers.delete(options.name ?? '', name)
    await appended(log, batchOf(1, ['b']))
    t.deepEqual(idsOf(await readAll(log, 1, 1, entry?.position)), ['b'])
  },
)

testWithNats(
  'jetstream-reader/1: a reader prefetches within its bound and omits no entry',
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
    // Messages that exceed the room would arrive within these rounds.
    for (let round = 0; round < 200; round += 1) await node.connection.nats.flush()
    const held = [fetched()]
    const ids: string[] = []
    let after = 0
    for (const goOn = rounds(60); ids.length < 60 && goOn();) {
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

testWithNats(
  'the lag counts the submissions that are appended and not applied',
  async (t, servers) => {
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
    // Most of the lag is at the server, which counts entries, not submissions.
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
  },
)

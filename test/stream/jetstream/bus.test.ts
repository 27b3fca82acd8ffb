import { NatsBus } from '#src/stream/jetstream/bus'
import { announcementOf } from '#test/contracts/bus-contract'
import { until } from '#test/support/gateway'
import { connectNode, freeze, only, testsWithNats } from '#test/support/nats'
import { channel } from '#test/support/submissions'
import { turn } from '#test/support/until'

const testWithNats = testsWithNats()

testWithNats(
  'bus/3, nats-connection/2: the bus drops and counts messages while NATS is down, and works again afterwards',
  async (t, servers) => {
    const server = only(servers)
    const [one, two] = [await connectNode(t, server.url), await connectNode(t, server.url)]
    const [here, there] = [new NatsBus(one), new NatsBus(two)]
    const received: number[] = []
    const own: number[] = []
    there.listen(channel(1), ({ entries }) => received.push(entries[0]?.seq ?? 0))
    here.listen(channel(1), ({ entries }) => own.push(entries[0]?.seq ?? 0))
    await server.kill('SIGKILL')
    await until(
      () => Promise.resolve(one.connection),
      ({ isConnected }) => !isConnected,
    )
    here.announce([announcementOf(channel(1), [1])])
    here.notify({ kind: 'applied', lane: 1, position: 1 })
    t.is(one.meter.total('bus_unsent_total{announcement}'), 1)
    t.is(one.meter.total('bus_unsent_total{notice}'), 1)
    await server.restart()
    await until(
      () => Promise.resolve([one, two]),
      (nodes) => nodes.every(({ connection }) => connection.isConnected),
    )
    await two.connection.nats.flush()
    here.announce([announcementOf(channel(1), [2])])
    await until(
      () => Promise.resolve(received),
      (seqs) => seqs.length > 0,
    )
    t.deepEqual([received, own], [[2], [1, 2]])
  },
)

testWithNats('bus/4: a flush ends only once the server has answered', async (t, servers) => {
  const server = only(servers)
  const node = await connectNode(t, server.url)
  const bus = new NatsBus(node)
  const frozen = await freeze(t, server)
  bus.listen(channel(1), () => {})
  let isOver = false
  const flushes = Promise.all([bus.flush(), bus.flush()]).then(() => (isOver = true))
  for (let turns = 0; turns < 100; turns += 1) await turn()
  t.false(isOver)
  await frozen.go()
  await flushes
  await server.kill('SIGKILL')
  await bus.flush()
  await server.restart()
})

testWithNats('the bus logs a text that is no announcement and ignores it', async (t, servers) => {
  const { url } = only(servers)
  const [one, two] = [await connectNode(t, url), await connectNode(t, url)]
  const bus = new NatsBus(one, 'odd')
  bus.listen(channel(1), () => t.fail())
  bus.onNotice(() => t.fail())
  await one.connection.nats.flush()
  two.connection.nats.publish(`odd.feed.${channel(1)}`, '{"not":"an announcement"}')
  two.connection.nats.publish('odd.notice', '{"kind":"of a later version"}')
  await until(
    () => Promise.resolve(one.logger.lines),
    (lines) => lines.some(({ level }) => level === 'warn'),
  )
  t.pass()
})

testWithNats(
  'bus/5: a notice for one writer of the log reaches that one alone',
  async (t, servers) => {
    const { url } = only(servers)
    const [owner, ...others] = await Promise.all([1, 2, 3].map(() => connectNode(t, url)))
    if (owner === undefined) return t.fail()
    const heard: string[] = []
    for (const [at, writer] of ['first', 'second'].entries()) {
      const node = others[at]
      if (node === undefined) return t.fail()
      const bus = new NatsBus({ ...node, writer })
      bus.onNotice((notice) => heard.push(`${writer} ${notice.kind === 'applied' && notice.lane}`))
      await bus.flush()
    }
    const bus = new NatsBus(owner)
    bus.notify({ kind: 'applied', lane: 1, position: 1 }, 'second')
    bus.notify({ kind: 'applied', lane: 2, position: 1 })
    await until(
      () => Promise.resolve(heard),
      () => heard.length >= 3,
    )
    t.deepEqual(heard.toSorted(), ['first 2', 'second 1', 'second 2'])
  },
)

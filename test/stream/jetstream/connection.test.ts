import test from 'ava'

import { Connection } from '#src/stream/jetstream/connection'
import { FakeLogger } from '#test/support/fake-telemetry'
import { until } from '#test/support/gateway'
import { connectNode, freeze, only, testsWithNats } from '#test/support/nats'
import { realRuntime } from '#test/support/real-runtime'

const { monotonicMs } = realRuntime

const testWithNats = testsWithNats({
  configuration: 'authorization { user: "gateway", password: "not:for logs" }',
})

const CREDENTIALS = 'gateway:not%3Afor%20logs'
const withCredentials = (port: number): string => `nats://${CREDENTIALS}@127.0.0.1:${port}`

testWithNats(
  'nats-connection/3: a connection uses credentials and never logs them',
  async (t, servers) => {
    const server = only(servers)
    const node = await connectNode(t, withCredentials(server.port))
    await server.kill('SIGKILL')
    await until(
      () => Promise.resolve(node.connection.isConnected),
      (isConnected) => !isConnected,
    )
    await server.restart()
    await until(
      () => Promise.resolve(node.connection.isConnected),
      (isConnected) => isConnected,
    )
    t.true(node.logger.lines.length >= 3)
    t.notRegex(JSON.stringify(node.logger.lines), /not:for|not%3Afor/)
  },
)

testWithNats(
  'nats-connection/1: a connection notices a server that hangs, and reconnects to it',
  async (t, servers) => {
    const server = only(servers)
    const { connection } = await connectNode(t, withCredentials(server.port))
    let reconnections = 0
    connection.onReconnect(() => (reconnections += 1))
    const frozen = await freeze(t, server)
    await until(
      () => Promise.resolve(connection.disconnectedMs()),
      (disconnectedMs) => disconnectedMs > 0,
    )
    await frozen.go()
    await until(
      () => Promise.resolve(reconnections),
      (times) => times > 0,
    )
    t.is(connection.disconnectedMs(), 0)
  },
)

testWithNats('wrong credentials end the start at once with a reason', async (t, servers) => {
  const { port } = only(servers)
  const ports = { logger: new FakeLogger(), timers: realRuntime, monotonicMs }
  const url = `nats://gateway:wrong-secret@127.0.0.1:${port}`
  const error = await t.throwsAsync(Connection.open(ports, { url, name: 'test' }))
  t.regex(error?.message ?? '', /NATS server at 127\.0\.0\.1:\d+ refused the credentials/)
  t.notRegex(error?.message ?? '', /wrong-secret/)
  t.deepEqual(ports.logger.lines, [])
})

testWithNats(
  'the start waits for a server that comes later, and logs that it waits',
  async (t, servers) => {
    const server = only(servers)
    await server.kill('SIGKILL')
    const ports = { logger: new FakeLogger(), timers: realRuntime, monotonicMs }
    const opening = Connection.open(ports, { url: withCredentials(server.port), name: 'test' })
    await until(
      () => Promise.resolve(ports.logger.lines),
      (lines) => lines.length > 0,
    )
    await server.restart()
    const connection = await opening
    t.true(connection.isConnected)
    await connection.close()
    t.like(ports.logger.lines[0], { level: 'warn', fact: 'no NATS server answers; trying again' })
    t.notRegex(JSON.stringify(ports.logger.lines), /not:for|not%3Afor/)
  },
)

test('a start that reaches no server names its address without the credentials', async (t) => {
  const ports = { logger: new FakeLogger(), timers: realRuntime, monotonicMs }
  const url = 'nats://user:secret@127.0.0.1:1'
  const error = await t.throwsAsync(
    Connection.open(ports, { url, name: 'test', firstAnswerMsMax: 100 }),
  )
  t.regex(error?.message ?? '', /no NATS server answered at 127\.0\.0\.1:1/)
  t.notRegex(error?.message ?? '', /secret/)
})

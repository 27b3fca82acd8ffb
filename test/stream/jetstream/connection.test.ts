import test from 'ava'

import { Connection } from '#src/stream/jetstream/connection'
import { FakeLog } from '#test/support/fake-telemetry'
import { until } from '#test/support/gateway'
import { connectNode, freeze, only, testsWithNats } from '#test/support/nats'
import { monotonicMs, realTimers } from '#test/support/real-timers'

const testWithNats = testsWithNats({
  configuration: 'authorization { user: "gateway", password: "not:for logs" }',
})

const CREDENTIALS = 'gateway:not%3Afor%20logs'
const withCredentials = (port: number): string => `nats://${CREDENTIALS}@127.0.0.1:${port}`

testWithNats('N3: credentials are used and never logged', async (t, servers) => {
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
})

testWithNats('N1: a server that hangs is noticed, and found again', async (t, servers) => {
  const server = only(servers)
  const { connection } = await connectNode(t, withCredentials(server.port))
  let returns = 0
  connection.onReturn(() => (returns += 1))
  const frozen = await freeze(t, server)
  await until(
    () => Promise.resolve(connection.awayMs()),
    (awayMs) => awayMs > 0,
    6000,
  )
  await frozen.go()
  await until(
    () => Promise.resolve(returns),
    (times) => times > 0,
  )
  t.is(connection.awayMs(), 0)
})

test('a server that is not there is told to the operator, without credentials', async (t) => {
  const ports = { logger: new FakeLog(), timers: realTimers, monotonicMs }
  const url = 'nats://user:secret@127.0.0.1:1'
  const error = await t.throwsAsync(
    Connection.open(ports, { url, name: 'test', firstTimeoutMs: 100 }),
  )
  t.regex(error?.message ?? '', /no NATS server answered at 127\.0\.0\.1:1/)
  t.notRegex(error?.message ?? '', /secret/)
})

// A nats-server of its own for a test file, and what is opened on it.

import { jetstreamManager } from '@nats-io/jetstream'
import type { JetStreamManager } from '@nats-io/jetstream'
import type { ExecutionContext } from 'ava'

import type { Timers } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import type { NatsOptions, NatsServer } from '#src/dev/servers/nats'
import { Connection } from '#src/stream/jetstream/connection'
import { JetStreamLog } from '#src/stream/jetstream/log'
import type { JetStreamLogOptions } from '#src/stream/jetstream/log'
import { startTestNats } from '#test/support/current-servers'
import { FakeLogger, FakeMeter } from '#test/support/fake-telemetry'
import { until } from '#test/support/gateway'
import { realRuntime } from '#test/support/real-runtime'
import { sharedServers } from '#test/support/shared-servers'

export type WithServers = (t: ExecutionContext, servers: readonly NatsServer[]) => Promise<void>

/**
 * Declares tests that have nats-servers of their own, one test at a time; the servers end with the
 * file. Without nats-server such a test gives the reason and passes; under CI=true it fails.
 */
export function testsWithNats(
  options: Omit<NatsOptions, 'env'> = {},
): (title: string, run: WithServers) => void {
  const nats = sharedServers<readonly NatsServer[]>('NATS', {
    start: () => startTestNats(options),
    stop: async (servers) => {
      for (const server of servers) await server.stop()
    },
    isSerial: true,
  })
  return nats.test
}

/** The only server of tests that asked for one. */
export function only(servers: readonly NatsServer[]): NatsServer {
  const [server] = servers
  if (server === undefined) throw new Error('there is no server')
  return server
}

/** Stops a server's process without ending it, until `go` or the end of the test. */
export async function freeze(
  t: ExecutionContext,
  server: NatsServer,
): Promise<{ readonly go: () => Promise<void> }> {
  const go = (): Promise<void> => server.kill('SIGCONT')
  t.teardown(go)
  await server.kill('SIGSTOP')
  // The signal takes effect a moment after it was sent.
  await until(
    () => answers(server.monitorUrl),
    (isAnswering) => !isAnswering,
  )
  return { go }
}

const answers = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(100) }).then(
    () => true,
    () => false,
  )

/** The ports that the parts of a node share in a test. */
export interface Node {
  readonly connection: Connection
  readonly logger: FakeLogger
  readonly meter: FakeMeter
  readonly timers: Timers
  readonly monotonicMs: () => number
  readonly entropy: Runtime['entropy']
}

/** A connection that closes with the test. */
export async function connectNode(
  t: ExecutionContext,
  url: string,
  name = 'test',
  { monotonicMs, entropy }: Pick<Runtime, 'monotonicMs' | 'entropy'> = realRuntime,
): Promise<Node> {
  const ports = { logger: new FakeLogger(), timers: realRuntime, monotonicMs, entropy }
  const connection = await Connection.open(ports, { url, name })
  t.teardown(() => connection.nats.close())
  return { ...ports, connection, meter: new FakeMeter() }
}

let opened = 0

/** Options for a stream that no other test uses. */
export function ownStream(bytesMax = 64 * 2 ** 20): JetStreamLogOptions {
  opened += 1
  return {
    name: `TEST${opened}`,
    prefix: `test${opened}`,
    replicas: 1,
    bytesMax,
    tailBytesMax: 8 * 2 ** 20,
    pendingBytesMax: 8 * 2 ** 20,
  }
}

/** A log that closes with the test. */
export async function openLog(
  t: ExecutionContext,
  node: Node,
  options: JetStreamLogOptions = ownStream(),
): Promise<JetStreamLog> {
  const log = await JetStreamLog.open(node, options)
  t.teardown(() => log.close())
  return log
}

/** Connects as an operator who changes streams behind the gateway's back. */
export async function connectOperator(t: ExecutionContext, url: string): Promise<JetStreamManager> {
  const { connection } = await connectNode(t, url, 'operator')
  return jetstreamManager(connection.nats, { checkAPI: false })
}

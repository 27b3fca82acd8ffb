// heliograph dev-cluster: runs a whole cluster on this computer until the command ends.

import { tmpdir } from 'node:os'

import { clockIn } from '#src/cli/deliveries/delivery-line'
import { DevCluster, aborted } from './cluster.ts'
import { Reporter } from './reporter.ts'
import { UsageError } from '#src/cli/endings'
import type { ProcessContext } from '#src/cli/process-context'
import { whole } from '#src/cli/values'
import { command, withDefault } from '#src/cli/command'

const NODES_MAX = 9
const PORT_MAX = 65_535

export const devCluster = command({
  description:
    'Starts a nats-server, a MariaDB and the nodes of a cluster over them, all on 127.0.0.1 ' +
    'with temporary data and without a gateway token, and prints one line for each change of ' +
    'their state. It installs a missing server program where it can (Debian, as root), and ' +
    'uses no SERVICE_ setting of the environment. Ctrl-C stops all servers in order and ' +
    'removes the data; a second one does so at once.',
  options: {
    nodes: withDefault(whole('<count>', 1, NODES_MAX, 'how many nodes'), 3),
    port: whole(
      '<first>',
      1,
      PORT_MAX,
      'the port of the first node, the others follow; by default free ports',
    ),
  },
  examples: ['dev-cluster', 'dev-cluster --nodes 5 --port 9000'],
  async run(options, context) {
    await runCluster(options, context)
  },
})

interface DevClusterOptions {
  readonly nodes: number
  readonly port: number | undefined
}

async function runCluster(
  { nodes, port }: DevClusterOptions,
  { env, fetch: ask, nowMs, terminal, untilStopped }: ProcessContext,
): Promise<void> {
  if (port !== undefined && port + nodes - 1 > PORT_MAX) {
    throw new UsageError(`with ${nodes} nodes --port is at most ${PORT_MAX - nodes + 1}`)
  }
  const stopped = untilStopped()
  const reporter = new Reporter({ print: (line) => terminal.print(line), nowMs, clock: clockIn() })
  const cluster = new DevCluster({
    nodes,
    firstPort: port,
    env,
    fetch: ask,
    temporaryFolder: tmpdir(),
    report: (who, fact) => reporter.report(who, fact),
  })
  try {
    if (await cluster.start(stopped)) {
      for (const line of introduction(cluster.nodes)) terminal.print(line)
      await aborted(AbortSignal.any([stopped, cluster.failed]))
    }
  } finally {
    await cluster.stop()
  }
  cluster.failed.throwIfAborted()
  terminal.print('all servers are stopped, and their data is removed')
}

type Introduced = Pick<DevCluster['nodes'][number], 'name' | 'baseUrl' | 'processId'>

/** Lines with the addresses of the nodes and with commands to try. */
export function introduction(nodes: readonly Introduced[]): readonly string[] {
  const [first] = nodes
  const last = nodes.at(-1)
  const urls = nodes.map(({ name, baseUrl }) => `  ${name}  ${baseUrl}`)
  if (first === undefined || last === undefined) return []
  const kill = `  kill -9 ${last.processId}  # ${last.name} dies, the others take over its lanes`
  return [
    '',
    nodes.length === 1
      ? 'the cluster is ready:'
      : 'the cluster is ready; every node takes every request:',
    ...urls,
    'in a second terminal, for example:',
    `  npx heliograph channel create Greenhouse --url ${first.baseUrl}`,
    ...(nodes.length === 1 ? [] : [kill]),
    'Ctrl-C stops it and removes its data',
    '',
  ]
}

// heliograph dev-cluster: a whole cluster on this computer, for as long as the command runs.

import { tmpdir } from 'node:os'
import type { Command } from 'commander'

import { clockIn } from './delivery-line.ts'
import { DevCluster, aborted } from './dev-cluster/cluster.ts'
import { Teller } from './dev-cluster/teller.ts'
import { UsageError } from './endings.ts'
import type { Surroundings } from './surroundings.ts'
import { readWhole } from './values.ts'

const NODES_MAX = 9
const PORT_MAX = 65_535

interface DevClusterOptions {
  readonly nodes: number
  readonly port?: number
}

export function addDevCluster(program: Command, surroundings: Surroundings): void {
  program
    .command('dev-cluster')
    .summary('run a cluster on this computer, to develop against')
    .description(
      'Starts a nats-server, a MariaDB and the nodes of a cluster over them, all on 127.0.0.1 ' +
        'with temporary data and without a gateway token, and prints what happens to them, one ' +
        'line each. A server program that is missing is installed where this is possible ' +
        '(Debian, as root). No SERVICE_ setting of the environment is used. Ctrl-C stops ' +
        'everything gently and removes the data; a second one does so at once.',
    )
    .option('--nodes <count>', 'how many nodes', readWhole(1, NODES_MAX), 3)
    .option(
      '--port <first>',
      'the port of the first node, the others follow (default: free ones)',
      readWhole(1, PORT_MAX),
    )
    .action(async (options: DevClusterOptions) => {
      await devCluster(options, surroundings)
    })
}

async function devCluster(
  { nodes, port }: DevClusterOptions,
  { env, fetch: ask, nowMs, terminal, untilStopped }: Surroundings,
): Promise<void> {
  if (port !== undefined && port + nodes - 1 > PORT_MAX) {
    throw new UsageError(`with ${nodes} nodes --port is at most ${PORT_MAX - nodes + 1}`)
  }
  const stopped = untilStopped()
  const teller = new Teller({ print: (line) => terminal.print(line), nowMs, clock: clockIn() })
  const cluster = new DevCluster({
    nodes,
    firstPort: port,
    env,
    fetch: ask,
    temporaryFolder: tmpdir(),
    tell: (who, fact) => teller.tell(who, fact),
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
  terminal.print('everything is stopped, and the data is removed')
}

type Introduced = Pick<DevCluster['nodes'][number], 'name' | 'baseUrl' | 'processId'>

/** An introduction: where the nodes are, and first commands. */
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

// heliograph dev-cluster: runs a whole cluster on this computer until the command ends.

import { tmpdir } from 'node:os'

import { keepNewest } from '#domain/bounds/newest'
import { clockIn } from '#src/cli/deliveries/delivery-line'
import { aborted } from '#src/dev/own-program'
import { DevCluster } from './cluster.ts'
import { UsageError } from '#src/cli/endings'
import type { ProcessContext } from '#src/cli/process-context'
import { whole } from '#src/cli/values'
import { command, withDefault } from '#src/cli/command'
import type { Clock } from '#src/cli/deliveries/delivery-line'
import type { Fact } from './fact.ts'

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
function introduction(nodes: readonly Introduced[]): readonly string[] {
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

const WHO_WIDTH = 'mariadb'.length
/** Milliseconds after which the reporter repeats a problem that lasts. */
const AGAIN_MS = 10_000
const REMEMBERED_MAX = 200

interface ReporterPorts {
  readonly print: (line: string) => void
  readonly nowMs: () => number
  readonly clock: Clock
}

/** Prints the facts of a cluster, and a lasting problem once every ten seconds. */
export class Reporter {
  readonly #ports: ReporterPorts
  /** The time at which it last printed each problem. */
  readonly #reportedMs = new Map<string, number>()

  constructor(ports: ReporterPorts) {
    this.#ports = ports
  }

  report(who: string, { kind, text }: Fact): void {
    const { print, nowMs, clock } = this.#ports
    const now = nowMs()
    if (kind === 'problem' && this.#wasReported(`${who} ${text}`, now)) return
    const milliseconds = String(Math.floor(now) % 1000).padStart(3, '0')
    print(`${clock(now)}.${milliseconds}  ${who.padEnd(WHO_WIDTH)}  ${text}`)
  }

  #wasReported(problem: string, now: number): boolean {
    const last = this.#reportedMs.get(problem)
    if (last !== undefined && now - last < AGAIN_MS) return true
    this.#reportedMs.set(problem, now)
    keepNewest(this.#reportedMs, REMEMBERED_MAX)
    return false
  }
}

// Starts private nats-servers with JetStream, alone or as a cluster, with their own ports and data.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { reservePort } from './port.ts'
import type { ReservedPort } from './port.ts'
import { findOrInstall } from './programs.ts'
import type { Environment } from './programs.ts'
import { ServerProcess } from './server-process.ts'
import type { RunningServer, Supervision } from './server-process.ts'

export interface NatsServer extends RunningServer {
  /** `nats://127.0.0.1:<port>` */
  readonly url: string
  readonly monitorUrl: string
}

export type NatsStarted =
  | { readonly kind: 'started'; readonly servers: readonly NatsServer[] }
  | { readonly kind: 'missing'; readonly reason: string }

export interface NatsOptions extends Supervision {
  readonly env: Environment
  /** The folder that keeps the data; without it the data is temporary. */
  readonly directory?: string
  /** The number of servers in the cluster; 1 by default. */
  readonly servers?: number
  /** True: each append is on the disk before it is confirmed. */
  readonly syncsAlways?: boolean
  /** Additional lines of each server's configuration. */
  readonly configuration?: string
}

const JETSTREAM_TIMEOUT_MS = 30_000
const HEALTH_CHECK_MS = 50

interface Member {
  readonly name: string
  readonly client: ReservedPort
  readonly monitor: ReservedPort
  readonly route: ReservedPort
}

/**
 * Starts nats-server, or says which program is missing. Rejects when a server does not get ready.
 */
export async function startNats(options: NatsOptions): Promise<NatsStarted> {
  const program = await findOrInstall('nats-server', options.env)
  if (program.kind === 'missing') return program
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'heliograph-nats-')))
  const isTemporary = options.directory === undefined
  const members: Member[] = []
  for (let number = 0; number < (options.servers ?? 1); number += 1) {
    const [client, monitor, route] = await Promise.all([
      reservePort(),
      reservePort(),
      reservePort(),
    ])
    members.push({ name: `n${number}`, client, monitor, route })
  }
  const running = new Set(members)
  const servers = await Promise.all(
    members.map((member) =>
      prepare(member, {
        file: program.file,
        options,
        directory,
        members,
        onStopped: async () => {
          running.delete(member)
          if (running.size > 0 || !isTemporary) return
          await rm(directory, { recursive: true, force: true })
        },
      }),
    ),
  )
  // When one server fails, the others must not go on: they may be about to start.
  const starts = await Promise.allSettled(servers.map((server) => server.restart()))
  const failure = starts.find((start) => start.status === 'rejected')
  if (failure !== undefined) {
    await Promise.all(servers.map((server) => server.stop()))
    throw failure.reason
  }
  return { kind: 'started', servers }
}

interface Preparation {
  readonly file: string
  readonly options: NatsOptions
  readonly directory: string
  readonly members: readonly Member[]
  readonly onStopped: () => Promise<void>
}

async function prepare(member: Member, preparation: Preparation): Promise<NatsServer> {
  const { file, options, directory, members, onStopped } = preparation
  const configuration = join(directory, `${member.name}.conf`)
  await writeFile(configuration, configurationOf(member, { members, directory, options }))
  const server = new ServerProcess({
    file,
    parameters: ['-c', configuration],
    env: options.env,
    readyLine: /Server is ready/,
    isDetached: options.isDetached,
    onEnd: options.onEnd,
  })
  const { port } = member.client
  const monitorUrl = `http://127.0.0.1:${member.monitor.port}`
  return {
    port,
    url: `nats://127.0.0.1:${port}`,
    monitorUrl,
    stop: async () => {
      await server.close()
      for (const reserved of [member.client, member.monitor, member.route]) await reserved.release()
      await onStopped()
    },
    kill: (signal) => server.end(signal),
    restart: async () => {
      await server.end('SIGKILL')
      await server.start()
      await untilHealthy(monitorUrl)
    },
  }
}

interface ClusterSettings {
  readonly members: readonly Member[]
  readonly directory: string
  readonly options: NatsOptions
}

function configurationOf(member: Member, { members, directory, options }: ClusterSettings): string {
  const routes = members.map(({ route }) => `"nats-route://127.0.0.1:${route.port}"`)
  const cluster = `cluster {
  name: heliograph
  listen: "127.0.0.1:${member.route.port}"
  routes: [${routes.join(', ')}]
}
`
  const sync = options.syncsAlways === true ? ', sync_interval: always' : ''
  return `server_name: ${member.name}
listen: "127.0.0.1:${member.client.port}"
http: "127.0.0.1:${member.monitor.port}"
jetstream { store_dir: "${join(directory, member.name)}"${sync} }
${members.length > 1 ? cluster : ''}${options.configuration ?? ''}
`
}

/** Waits for JetStream: a member of a cluster accepts clients before its group has a leader. */
async function untilHealthy(monitorUrl: string): Promise<void> {
  const deadline = performance.now() + JETSTREAM_TIMEOUT_MS
  for (;;) {
    if (await isHealthy(monitorUrl)) return
    if (performance.now() > deadline) throw new Error('JetStream was not ready in time')
    await wait(HEALTH_CHECK_MS)
  }
}

const isHealthy = (monitorUrl: string): Promise<boolean> =>
  fetch(`${monitorUrl}/healthz`).then(
    async (response) => {
      await response.arrayBuffer()
      return response.ok
    },
    () => false,
  )

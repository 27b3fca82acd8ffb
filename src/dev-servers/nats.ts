// Private nats-servers with JetStream, alone or as a cluster, on ports and data of their own.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { reservePort } from './port.ts'
import type { ReservedPort } from './port.ts'
import { findOrInstall } from './programs.ts'
import type { Surroundings } from './programs.ts'
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
  readonly env: Surroundings
  /** The folder for the data, which stays; without one the data is temporary. */
  readonly directory?: string
  /** Servers of one cluster; 1 by default. */
  readonly servers?: number
  /** Lines that are added to each server's configuration. */
  readonly configuration?: string
}

const JETSTREAM_TIMEOUT_MS = 30_000
const LOOK_AGAIN_MS = 50

interface Place {
  readonly name: string
  readonly client: ReservedPort
  readonly monitor: ReservedPort
  readonly route: ReservedPort
}

/** Starts nats-server, or says what is missing. Rejects when a server does not become ready. */
export async function startNats(options: NatsOptions): Promise<NatsStarted> {
  const program = await findOrInstall('nats-server', options.env)
  if (program.kind === 'missing') return program
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'heliograph-nats-')))
  const isTemporary = options.directory === undefined
  const places: Place[] = []
  for (let number = 0; number < (options.servers ?? 1); number += 1) {
    const [client, monitor, route] = await Promise.all([
      reservePort(),
      reservePort(),
      reservePort(),
    ])
    places.push({ name: `n${number}`, client, monitor, route })
  }
  const left = new Set(places)
  const servers = await Promise.all(
    places.map((place) =>
      prepare(place, {
        file: program.file,
        options,
        directory,
        places,
        onStopped: async () => {
          left.delete(place)
          if (left.size === 0 && isTemporary) await rm(directory, { recursive: true, force: true })
        },
      }),
    ),
  )
  // A failed server must not leave another behind that was about to start.
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
  readonly places: readonly Place[]
  readonly onStopped: () => Promise<void>
}

async function prepare(place: Place, preparation: Preparation): Promise<NatsServer> {
  const { file, options, directory, places, onStopped } = preparation
  const configuration = join(directory, `${place.name}.conf`)
  await writeFile(configuration, configurationOf(place, { places, directory, options }))
  const server = new ServerProcess({
    file,
    parameters: ['-c', configuration],
    env: options.env,
    readyLine: /Server is ready/,
    isApart: options.isApart,
    onEnd: options.onEnd,
  })
  const { port } = place.client
  const monitorUrl = `http://127.0.0.1:${place.monitor.port}`
  return {
    port,
    url: `nats://127.0.0.1:${port}`,
    monitorUrl,
    stop: async () => {
      await server.close()
      for (const reserved of [place.client, place.monitor, place.route]) await reserved.release()
      await onStopped()
    },
    kill: (signal) => server.end(signal),
    restart: async () => {
      await server.end('SIGKILL')
      await server.start()
      await jetStreamIsUp(monitorUrl)
    },
  }
}

interface Surrounding {
  readonly places: readonly Place[]
  readonly directory: string
  readonly options: NatsOptions
}

function configurationOf(place: Place, { places, directory, options }: Surrounding): string {
  const routes = places.map(({ route }) => `"nats-route://127.0.0.1:${route.port}"`)
  const cluster = `cluster {
  name: heliograph
  listen: "127.0.0.1:${place.route.port}"
  routes: [${routes.join(', ')}]
}
`
  return `server_name: ${place.name}
listen: "127.0.0.1:${place.client.port}"
http: "127.0.0.1:${place.monitor.port}"
jetstream { store_dir: "${join(directory, place.name)}" }
${places.length > 1 ? cluster : ''}${options.configuration ?? ''}
`
}

/** A member of a cluster is ready for clients before its group has a leader. */
async function jetStreamIsUp(monitorUrl: string): Promise<void> {
  const deadline = performance.now() + JETSTREAM_TIMEOUT_MS
  for (;;) {
    if (await isHealthy(monitorUrl)) return
    if (performance.now() > deadline) throw new Error('JetStream was not ready in time')
    await wait(LOOK_AGAIN_MS)
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

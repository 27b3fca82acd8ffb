// Starts a private mosquitto that keeps sessions and publishes, with its own port and data.

import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { reservePort } from '#src/dev/servers/port'
import { findOrInstall } from '#src/dev/servers/programs'
import type { Environment } from '#src/dev/servers/programs'
import { ServerProcess } from '#src/dev/servers/server-process'
import type { RunningServer } from '#src/dev/servers/server-process'

export interface MosquittoServer extends RunningServer {
  /** `mqtt://127.0.0.1:<port>` */
  readonly url: string
}

export type MosquittoStarted =
  | { readonly kind: 'started'; readonly servers: MosquittoServer }
  | { readonly kind: 'missing'; readonly reason: string }

/** Starts mosquitto, or says that it is missing. Rejects when it does not get ready. */
export async function startMosquitto(env: Environment): Promise<MosquittoStarted> {
  const program = await findOrInstall('mosquitto', env)
  if (program.kind === 'missing') return program
  const directory = await mkdtemp(join(tmpdir(), 'heliograph-mosquitto-'))
  // Started by root, mosquitto gives up its rights and still has to write here.
  await chmod(directory, 0o777)
  const reserved = await reservePort()
  const configuration = join(directory, 'mosquitto.conf')
  await writeFile(configuration, configurationOf(reserved.port, directory))
  const server = new ServerProcess({
    file: program.file,
    parameters: ['-c', configuration],
    env,
    readyLine: /mosquitto version \S+ running/,
  })
  await server.start()
  const servers: MosquittoServer = {
    port: reserved.port,
    url: `mqtt://127.0.0.1:${reserved.port}`,
    stop: async () => {
      await server.close()
      await reserved.release()
      await rm(directory, { recursive: true, force: true })
    },
    kill: (signal) => server.end(signal),
    restart: async () => {
      await server.end('SIGKILL')
      await server.start()
    },
  }
  return { kind: 'started', servers }
}

const configurationOf = (port: number, directory: string): string => `listener ${port} 127.0.0.1
allow_anonymous true
persistence true
persistence_location ${directory}/
max_queued_messages 0
log_dest stderr
`

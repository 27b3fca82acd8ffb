// The servers that the nodes share: a nats-server and a MariaDB.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { Env } from '#src/config/environment'
import { CommandError } from '#src/cli/endings'
import { withoutSettings } from '#src/cli/own-environment'
import { onOneLine, shortened } from '#src/cli/plain-text'
import { startMariaDb } from '#src/dev-servers/mariadb'
import { startNats } from '#src/dev-servers/nats'
import { findProgram } from '#src/dev-servers/programs'
import type { Program } from '#src/dev-servers/programs'
import { change } from './fact.ts'
import type { Fact } from './fact.ts'

const DATABASE = 'heliograph'
/** Every node has two pools of ten and more. */
const CONNECTIONS_MAX = 500
const REASON_MAX = 500

export interface OwnServerOptions {
  /** The cluster's folder; the server's data goes into a folder in it and stays. */
  readonly folder: string
  readonly env: Env
  readonly report: (who: string, fact: Fact) => void
}

export interface OwnServer {
  readonly url: string
  stop(): Promise<void>
}

/** Throws CommandError with one sentence when it is not there and cannot be installed. */
export async function startOwnNats(options: OwnServerOptions): Promise<OwnServer> {
  const { folder, env, report } = options
  await tellIfMissing('nats-server', 'nats', options)
  const directory = join(folder, 'nats')
  await mkdir(directory)
  const started = await startNats({
    env: withoutSettings(env),
    directory,
    isDetached: true,
    onEnd: (how) => report('nats', died(how, 'nothing is accepted without it')),
  }).catch(refuseAs('nats-server'))
  if (started.kind === 'missing') throw new CommandError(started.reason)
  const [server] = started.servers
  if (server === undefined) throw new Error('there is no nats-server')
  report('nats', change(`nats-server with JetStream started on port ${server.port}`))
  return { url: server.url, stop: () => server.stop() }
}

/** Throws CommandError with one sentence when it is not there and cannot be installed. */
export async function startOwnMariaDb(options: OwnServerOptions): Promise<OwnServer> {
  const { folder, env, report } = options
  await tellIfMissing('mariadbd', 'mariadb', options)
  const directory = join(folder, 'mariadb')
  const statements = join(folder, 'database.sql')
  await writeFile(statements, `CREATE DATABASE ${DATABASE};\n`)
  const started = await startMariaDb({
    env: withoutSettings(env),
    directory,
    parameters: [`--init-file=${statements}`, `--max-connections=${CONNECTIONS_MAX}`],
    isDetached: true,
    onEnd: (how) => report('mariadb', died(how, 'nothing is applied without it')),
  }).catch(refuseAs('mariadbd'))
  if (started.kind === 'missing') throw new CommandError(started.reason)
  const { server } = started
  report('mariadb', change(`mariadbd started on port ${server.port}`))
  return { url: server.urlOf(DATABASE), stop: () => server.stop() }
}

const refuseAs =
  (server: string) =>
  (error: unknown): never => {
    const reason = shortened(onOneLine(String(error)), REASON_MAX)
    throw new CommandError(`${server} did not start: ${reason}`)
  }

const died = (how: string, consequence: string): Fact =>
  change(`died (${how}) and is not started again; ${consequence}`)

/** An installation takes its time. */
async function tellIfMissing(
  program: Program,
  who: string,
  { env, report }: OwnServerOptions,
): Promise<void> {
  if ((await findProgram(program, env)) !== undefined) return
  report(who, change(`${program} is not on this computer; it is installed now if that is possible`))
}

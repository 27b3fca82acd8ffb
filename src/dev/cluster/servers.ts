// Starts the servers that the nodes share: a nats-server and a MariaDB.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { Env } from '#src/config/environment'
import { CommandError } from '#src/cli/endings'
import { withoutSettings } from '#src/dev/own-program'
import { onOneLine, shortened } from '#src/cli/terminal-text'
import { startMariaDb } from '#src/dev/servers/mariadb'
import { startNats } from '#src/dev/servers/nats'
import { findProgram } from '#src/dev/servers/programs'
import type { Program } from '#src/dev/servers/programs'
import { change } from './fact.ts'
import type { Fact } from './fact.ts'

const DATABASE = 'heliograph'
/** Each node has two pools of ten connections, and some more. */
const CONNECTIONS_MAX = 500
const REASON_MAX = 500

interface OwnServerOptions {
  /** The cluster's folder; the server leaves its data in a folder in it. */
  readonly folder: string
  readonly env: Env
  readonly report: (who: string, fact: Fact) => void
}

interface OwnServer {
  readonly url: string
  stop(): Promise<void>
}

/** Throws CommandError when the server is missing and cannot be installed, or does not start. */
export async function startOwnNats(options: OwnServerOptions): Promise<OwnServer> {
  const { folder, env, report } = options
  await reportIfMissing('nats-server', 'nats', options)
  const directory = join(folder, 'nats')
  await mkdir(directory)
  const started = await startNats({
    env: withoutSettings(env),
    directory,
    isDetached: true,
    onEnd: (ending) => report('nats', died(ending, 'the nodes accept nothing without it')),
  }).catch(refuseAs('nats-server'))
  if (started.kind === 'missing') throw new CommandError(started.reason)
  const [server] = started.servers
  if (server === undefined) throw new Error('there is no nats-server')
  report('nats', change(`nats-server with JetStream started on port ${server.port}`))
  return { url: server.url, stop: () => server.stop() }
}

/** Throws CommandError when the server is missing and cannot be installed, or does not start. */
export async function startOwnMariaDb(options: OwnServerOptions): Promise<OwnServer> {
  const { folder, env, report } = options
  await reportIfMissing('mariadbd', 'mariadb', options)
  const directory = join(folder, 'mariadb')
  const statements = join(folder, 'database.sql')
  await writeFile(statements, `CREATE DATABASE ${DATABASE};\n`)
  const started = await startMariaDb({
    env: withoutSettings(env),
    directory,
    parameters: [`--init-file=${statements}`, `--max-connections=${CONNECTIONS_MAX}`],
    isDetached: true,
    onEnd: (ending) => report('mariadb', died(ending, 'the nodes apply nothing without it')),
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

const died = (ending: string, consequence: string): Fact =>
  change(`died (${ending}) and does not start again; ${consequence}`)

/** Reports an installation before it begins, since it takes a while. */
async function reportIfMissing(
  program: Program,
  who: string,
  { env, report }: OwnServerOptions,
): Promise<void> {
  if ((await findProgram(program, env)) !== undefined) return
  report(who, change(`${program} is missing on this computer; installing it if that is possible`))
}

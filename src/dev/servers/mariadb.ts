// Starts a private MariaDB server with its own port and data. Root has no password: the server
// listens only on 127.0.0.1 and on a socket in its own folder.

import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { spawn } from 'node:child_process'

import { reservePort } from './port.ts'
import { findOrInstall } from './programs.ts'
import type { Environment } from './programs.ts'
import { ServerProcess } from './server-process.ts'
import type { RunningServer, Supervision } from './server-process.ts'
import { atExit } from './at-exit.ts'

export interface MariaDbServer extends RunningServer {
  readonly socket: string
  /** `mysql://root@127.0.0.1:<port>/<database>` */
  urlOf(database: string): string
}

export type MariaDbStarted =
  | { readonly kind: 'started'; readonly server: MariaDbServer }
  | { readonly kind: 'missing'; readonly reason: string }

interface MariaDbOptions extends Supervision {
  readonly env: Environment
  /** The folder that keeps the data; without it the data is temporary. */
  readonly directory?: string
  /** Additional parameters of mariadbd, for example `--innodb-lock-wait-timeout=1`. */
  readonly parameters?: readonly string[]
}

const SMALL = [
  '--innodb-buffer-pool-size=128M',
  '--innodb-log-file-size=64M',
  '--innodb-log-buffer-size=8M',
  '--key-buffer-size=1M',
  '--table-open-cache=200',
  '--max-connections=200',
  '--performance-schema=OFF',
  '--skip-log-bin',
]

/**
 * Starts mariadbd, or says which program is missing. Rejects when the server does not get ready.
 */
export async function startMariaDb(options: MariaDbOptions): Promise<MariaDbStarted> {
  const program = await findOrInstall('mariadbd', options.env)
  if (program.kind === 'missing') return program
  const installer = await findOrInstall('mariadb-install-db', options.env)
  if (installer.kind === 'missing') return installer
  // The installer is a script that calls this program.
  const reader = await findOrInstall('my_print_defaults', options.env)
  if (reader.kind === 'missing') return reader
  const isTemporary = options.directory === undefined
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'heliograph-mariadb-')))
  const data = join(directory, 'data')
  // A starting server removes all temporary tables in TMPDIR, even those of another server.
  const env = { ...options.env, TMPDIR: join(directory, 'tmp') }
  const reserved = await reservePort()
  const { port } = reserved
  const socket = join(directory, 'server.sock')
  const process = new ServerProcess({
    file: program.file,
    parameters: [
      '--no-defaults',
      `--datadir=${data}`,
      `--socket=${socket}`,
      `--pid-file=${join(directory, 'server.pid')}`,
      `--user=${userInfo().username}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      '--skip-networking=0',
      '--skip-name-resolve',
      ...SMALL,
      ...(options.parameters ?? []),
    ],
    env,
    readyLine: /ready for connections/,
    isDetached: options.isDetached,
    onEnd: options.onEnd,
  })
  const stop = async (): Promise<void> => {
    await process.close()
    await reserved.release()
    if (isTemporary) await rm(directory, { recursive: true, force: true })
  }
  try {
    await mkdir(env.TMPDIR, { recursive: true })
    await createData(data, { installer: installer.file, env })
    await process.start()
  } catch (error) {
    await stop()
    throw error
  }
  const server: MariaDbServer = {
    port,
    socket,
    urlOf: (database) => `mysql://root@127.0.0.1:${port}/${database}`,
    stop,
    kill: (signal) => process.end(signal),
    restart: async () => {
      await process.end('SIGKILL')
      await process.start()
    },
  }
  return { kind: 'started', server }
}

interface Installer {
  readonly installer: string
  readonly env: Environment
}

/** Creates the system tables, once for a folder. */
async function createData(data: string, { installer, env }: Installer): Promise<void> {
  await mkdir(data, { recursive: true })
  if ((await readdir(data)).includes('mysql')) return
  await runToEnd({
    file: installer,
    parameters: [
      '--no-defaults',
      `--datadir=${data}`,
      `--user=${userInfo().username}`,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
      '--skip-name-resolve',
    ],
    env,
  })
}

const OUTPUT_KEPT = 2000

interface ProgramRun {
  readonly file: string
  readonly parameters: readonly string[]
  readonly env: Environment
}

/**
 * Runs a program. Resolves when it ends with code 0; rejects with its last output otherwise. The
 * program gets a process group of its own: Ctrl-C in a terminal does not reach it, and this process
 * kills the whole group when it ends first.
 */
export function runToEnd({ file, parameters, env }: ProgramRun): Promise<void> {
  const child = spawn(file, parameters, {
    env: { ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const cancelCleanup = atExit(() => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  })
  let output = ''
  const onOutput = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-OUTPUT_KEPT)
  }
  child.stdout.on('data', onOutput)
  child.stderr.on('data', onOutput)
  return new Promise((resolve, reject) => {
    const fail = (what: string): void => reject(new Error(`${file} ${what}: ${output.trim()}`))
    child.once('error', (error) => {
      cancelCleanup()
      fail(`could not be started (${error.message})`)
    })
    child.once('close', (code, signal) => {
      cancelCleanup()
      if (code === 0) resolve()
      else fail(`ended with ${code ?? signal}`)
    })
  })
}

// Finds the server programs on this machine, or installs them from Debian's packages.
//
// Invariants:
//   programs/1. One process at a time installs on a machine; the others wait for it.
//   programs/2. An installation starts no service: a policy-rc.d forbids it meanwhile.

import { spawn } from 'node:child_process'
import { constants, rmSync } from 'node:fs'
import { access, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { atExit } from './at-exit.ts'
import { lockFile } from './lock-file.ts'

/** The environment variables of a process. A search uses PATH; started programs get all. */
export interface Environment {
  readonly [name: string]: string | undefined
}

export type Program =
  | 'nats-server'
  | 'mariadbd'
  | 'mariadb-install-db'
  | 'my_print_defaults'
  | 'chromium'
  | 'firefox-esr'
  | 'mosquitto'
  | 'mosquitto_pub'
  | 'nginx'
  | 'haproxy'
  | 'caddy'

export type Found =
  | { readonly kind: 'found'; readonly file: string }
  /** `reason` is a sentence for the operator: which program is missing and how to install it. */
  | { readonly kind: 'missing'; readonly reason: string }

// The core packages have the programs without the service that mariadb-server would set up.
const PACKAGES: Readonly<Record<Program, string>> = {
  'nats-server': 'nats-server',
  mariadbd: 'mariadb-server-core',
  'mariadb-install-db': 'mariadb-server-core',
  my_print_defaults: 'mariadb-client-core',
  chromium: 'chromium',
  'firefox-esr': 'firefox-esr',
  mosquitto: 'mosquitto',
  mosquitto_pub: 'mosquitto-clients',
  nginx: 'nginx',
  haproxy: 'haproxy',
  caddy: 'caddy',
}

const USUAL_FOLDERS = [
  '/usr/sbin',
  '/usr/bin',
  '/usr/local/sbin',
  '/usr/local/bin',
  '/usr/libexec',
  '/opt/homebrew/bin',
  '/opt/homebrew/opt/mariadb/bin',
]
const POLICY_FILE = '/usr/sbin/policy-rc.d'
const POLICY_FORBIDS = '#!/bin/sh\nexit 101\n'
/** Matches apt-get's message about a package that this release of Debian does not have. */
const UNKNOWN_PACKAGE = /has no installation candidate|Unable to locate package/
const ATTEMPTS = 5
const PAUSE_MS = 3000
const INSTALL_TIMEOUT_MS = 600_000
const OUTPUT_KEPT = 2000

/**
 * Finds a program in PATH or a usual folder; installs it first when it is missing and this process
 * may install.
 */
export async function findOrInstall(program: Program, env: Environment): Promise<Found> {
  const present = await findProgram(program, env)
  if (present !== undefined) return { kind: 'found', file: present }
  const name = PACKAGES[program]
  if (!(await mayInstall(env))) {
    const how = `install it (Debian: apt-get install ${name}) or put it on PATH`
    const reason = `${program} was not found; ${how}`
    return { kind: 'missing', reason }
  }
  const isMissing = async (): Promise<boolean> => (await findProgram(program, env)) === undefined
  const failure = await installPackage(name, env, isMissing)
  const file = await findProgram(program, env)
  if (file !== undefined) return { kind: 'found', file }
  const reason = `${program} could not be installed with apt-get: ${failure}`
  return { kind: 'missing', reason }
}

/**
 * Installs a Debian package, unless another process has installed it meanwhile. Gives the last
 * lines of a failure; an empty text on success. Only tests name another `policyFile`.
 */
export async function installPackage(
  name: string,
  env: Environment,
  isMissing: () => Promise<boolean>,
  policyFile = POLICY_FILE,
): Promise<string> {
  if (!(await mayInstall(env))) return `no right to install ${name} with apt-get`
  const lock = join(tmpdir(), 'heliograph-install.lock')
  const release = await lockFile(lock, { timeoutMs: INSTALL_TIMEOUT_MS }) // programs/1
  try {
    return (await isMissing()) ? await install(name, env, policyFile) : ''
  } finally {
    await release()
  }
}

/** Returns the program's file; undefined when this machine does not have it. */
export async function findProgram(
  program: Program | 'setpriv',
  env: Environment,
): Promise<string | undefined> {
  const folders = [...(env['PATH'] ?? '').split(delimiter), ...USUAL_FOLDERS]
  for (const folder of folders) {
    const file = join(folder, program)
    if (folder !== '' && (await isExecutable(file))) return file
  }
  return undefined
}

const isExecutable = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  )

async function mayInstall(env: Environment): Promise<boolean> {
  if (process.getuid?.() !== 0) return false
  const folders = (env['PATH'] ?? '').split(delimiter)
  for (const folder of folders) if (await isExecutable(join(folder, 'apt-get'))) return true
  return false
}

/** Runs apt-get. Gives the last lines of a failure; an empty text on success. */
async function install(name: string, env: Environment, policyFile: string): Promise<string> {
  const allowServices = await forbidServices(policyFile)
  try {
    let failure = ''
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const update = await aptGet(['update', '-qq'], env)
      const packages = ['install', '-qq', '-y', '--no-install-recommends', name]
      failure = await aptGet(packages, env)
      if (failure === '') return ''
      if (update === '' && UNKNOWN_PACKAGE.test(failure)) return failure
      if (update !== '') failure = `${failure}\n${update}`
      // Another package manager may have the lock; then apt-get fails at once.
      if (attempt < ATTEMPTS) await wait(PAUSE_MS)
    }
    return failure
  } finally {
    await allowServices()
  }
}

/**
 * programs/2: forbids services; gives a function that allows them again. Keeps an existing policy.
 */
async function forbidServices(policyFile: string): Promise<() => Promise<void>> {
  try {
    await writeFile(policyFile, POLICY_FORBIDS, { flag: 'wx', mode: 0o755 })
  } catch {
    return () => Promise.resolve()
  }
  const cancelCleanup = atExit(() => rmSync(policyFile, { force: true }))
  return async () => {
    cancelCleanup()
    await rm(policyFile, { force: true })
  }
}

function aptGet(parameters: readonly string[], env: Environment): Promise<string> {
  const child = spawn('apt-get', ['-o', 'DPkg::Lock::Timeout=120', ...parameters], {
    env: { ...env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const onOutput = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-OUTPUT_KEPT)
  }
  child.stdout.on('data', onOutput)
  child.stderr.on('data', onOutput)
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code) => resolve(code === 0 ? '' : output.trim() || `exit code ${code}`))
  })
}

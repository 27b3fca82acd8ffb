// The package as others get it: packed as it would be published, and installed by npm into an empty
// folder, without this project's overrides, lock file and development dependencies.

import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { isBuilt } from './program.ts'

const ROOT = new URL('../..', import.meta.url).pathname
/** Packing builds, and an installation copies 450 MB: minutes, where a disk has much to do. */
export const INSTALLED_WITHIN_MS = 600_000
const TIME_MAX_MS = INSTALLED_WITHIN_MS / 2
/** No question to the registry but for packages. */
const INSTALL = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock']
/** The settings of npm for its cache and registry; the other variables belong to npm's own run. */
const NPM_SETTINGS = ['npm_config_cache', 'npm_config_registry', 'npm_config_userconfig']

export class InstalledPackage {
  readonly folder: string
  /** The packed file. */
  readonly tarball: Uint8Array

  constructor(folder: string, tarball: Uint8Array) {
    this.folder = folder
    this.tarball = tarball
  }

  /** Runs a program to its end; gives its output. */
  async run(program: string, ...words: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(program, words, this.#options())
    return stdout
  }

  /** Starts a program whose standard input stays open. */
  start(program: string, words: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
    const options = this.#options()
    return spawn(program, words, { ...options, env: { ...options.env, ...env } })
  }

  write(name: string, text: string): Promise<void> {
    return writeFile(join(this.folder, name), text)
  }

  /** Removes the native code of QUIC. */
  async withoutQuic(): Promise<void> {
    const scope = join(this.folder, 'node_modules/@matrixai')
    const native = (await readdir(scope)).filter((name) => name.startsWith('quic-'))
    await Promise.all(native.map((name) => rm(join(scope, name), { recursive: true })))
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true })
  }

  #options() {
    return { cwd: this.folder, env: environment(), timeout: TIME_MAX_MS } as const
  }
}

/** Packs what the sources are now and installs it. */
export async function installPackage(): Promise<InstalledPackage> {
  const folder = await mkdtemp(join(tmpdir(), 'heliograph-package-'))
  const npm = (cwd: string, ...words: string[]) =>
    promisify(execFile)('npm', words, { cwd, env: environment(), timeout: TIME_MAX_MS })
  // Packing builds, unless that is done: `npm ci` has built.
  const pack = [
    'pack',
    '--json',
    '--pack-destination',
    folder,
    ...(isBuilt ? ['--ignore-scripts'] : []),
  ]
  const { stdout } = await npm(ROOT, ...pack)
  const [packed] = JSON.parse(stdout) as [{ readonly filename: string }]
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  await npm(folder, ...INSTALL, `./${packed.filename}`)
  return new InstalledPackage(folder, await readFile(join(folder, packed.filename)))
}

/** The environment of a shell outside of this project. */
function environment(): NodeJS.ProcessEnv {
  const isOurs = (name: string): boolean =>
    /^(npm_|NODE_)/.test(name) && !NPM_SETTINGS.includes(name)
  const kept = Object.entries(process.env).filter(([name]) => !isOurs(name))
  const folders = process.env['PATH']?.split(':') ?? []
  const path = folders.filter((folder) => !folder.includes('node_modules')).join(':')
  return { ...Object.fromEntries(kept), PATH: path }
}

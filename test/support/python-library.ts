// Finds Python with a library of another implementation (aioquic for QUIC, paho for MQTT, the client of Prometheus), or installs
// it from Debian's packages or, if Debian has none, with pip into a folder of its own.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import type { ExecutionContext } from 'ava'

import { installPackage } from '#src/dev/servers/programs'

/** Python with the environment that lets it find the library. */
export interface Python {
  readonly file: string
  readonly env: NodeJS.ProcessEnv
}

interface Library {
  readonly module: string
  /** The name for pip. */
  readonly name: string
  readonly version: string
  /** The package of Debian, where that is recent enough. */
  readonly debian?: string
}

const AIOQUIC: Library = {
  module: 'aioquic',
  name: 'aioquic',
  version: '1.2.0',
  debian: 'python3-aioquic',
}
// paho 2 calls back in another way than the version of Debian 12.
const PAHO: Library = { module: 'paho.mqtt.reasoncodes', name: 'paho-mqtt', version: '2.1.0' }

const PROMETHEUS: Library = {
  module: 'prometheus_client.openmetrics.parser',
  name: 'prometheus-client',
  version: '0.16.0',
  debian: 'python3-prometheus-client',
}

/** What one run installed the next ones find. */
const KEPT = fileURLToPath(new URL('../../node_modules/.cache/heliograph', import.meta.url))
const folderOf = ({ name, version }: Library): string => join(KEPT, `${name}-${version}`)
const PYTHONS = ['python3', '/usr/bin/python3']
const INSTALL_TIMEOUT_MS = 120_000

const run = promisify(execFile)

/** The first Python that has the library. */
async function find(library: Library): Promise<Python | undefined> {
  const own = folderOf(library)
  const folders = existsSync(own) ? [undefined, own] : [undefined]
  for (const folder of folders) {
    const env = { ...process.env, ...(folder !== undefined && { PYTHONPATH: folder }) }
    for (const file of PYTHONS) {
      const found = await run(file, ['-c', `import ${library.module}`], { env }).catch(
        () => undefined,
      )
      if (found !== undefined) return { file, env }
    }
  }
  return undefined
}

/** Installs it; gives the reason if that fails. */
async function pip(library: Library): Promise<string> {
  const target = `${folderOf(library)}-${process.pid}`
  const { name, version } = library
  const words = ['-m', 'pip', 'install', '--quiet', '--target', target, `${name}==${version}`]
  let failure = ''
  for (const file of PYTHONS) {
    try {
      await run(file, words, { timeout: INSTALL_TIMEOUT_MS })
      // Another process may have been faster.
      await rename(target, folderOf(library)).catch(() => undefined)
      return ''
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error)
    }
  }
  return failure
}

/** Returns its place, or a sentence when it is not available. */
async function findOrInstall(library: Library): Promise<Python | string> {
  const { name, debian } = library
  const present = await find(library)
  if (present !== undefined) return present
  const isMissing = async (): Promise<boolean> => (await find(library)) === undefined
  const fromDebian = debian && (await installPackage(debian, process.env, isMissing))
  const installed = await find(library)
  if (installed !== undefined) return installed
  const fromPip = await pip(library)
  return (await find(library)) ?? `${name} cannot be had: ${fromDebian ?? ''} ${fromPip}`
}

/** A test without the library gives the reason and passes; under CI=true it fails. */
async function withLibrary(t: ExecutionContext, library: Library): Promise<Python | undefined> {
  const python = await findOrInstall(library)
  if (typeof python !== 'string') return python
  if (process.env['CI'] === 'true') throw new Error(python)
  t.log(`not run: ${python}`)
  t.pass()
  return undefined
}

export const aioquic = (t: ExecutionContext): Promise<Python | undefined> => withLibrary(t, AIOQUIC)

export const paho = (t: ExecutionContext): Promise<Python | undefined> => withLibrary(t, PAHO)

export const prometheusClient = (t: ExecutionContext): Promise<Python | undefined> =>
  withLibrary(t, PROMETHEUS)

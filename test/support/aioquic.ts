// Finds Python with aioquic, an independent QUIC implementation, or installs it from Debian's
// packages or, if Debian has none (12), with pip into a folder of its own.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import type { ExecutionContext } from 'ava'

import { installPackage } from '#src/dev/servers/programs'

/** Python with the environment that lets it find the library. */
export interface Python {
  readonly file: string
  readonly env: NodeJS.ProcessEnv
}

const VERSION = '1.2.0'
const FOLDER = join(tmpdir(), `heliograph-aioquic-${VERSION}`)
const PYTHONS = ['python3', '/usr/bin/python3']
const INSTALL_TIMEOUT_MS = 120_000

const run = promisify(execFile)

/** The first Python that has the library. */
async function find(): Promise<Python | undefined> {
  const folders = existsSync(FOLDER) ? [undefined, FOLDER] : [undefined]
  for (const folder of folders) {
    const env = { ...process.env, ...(folder !== undefined && { PYTHONPATH: folder }) }
    for (const file of PYTHONS) {
      const found = await run(file, ['-c', 'import aioquic'], { env }).catch(() => undefined)
      if (found !== undefined) return { file, env }
    }
  }
  return undefined
}

/** Installs it; gives the reason if that fails. */
async function pip(): Promise<string> {
  const target = `${FOLDER}-${process.pid}`
  const words = ['-m', 'pip', 'install', '--quiet', '--target', target, `aioquic==${VERSION}`]
  let failure = ''
  for (const file of PYTHONS) {
    try {
      await run(file, words, { timeout: INSTALL_TIMEOUT_MS })
      // Another process may have been faster.
      await rename(target, FOLDER).catch(() => undefined)
      return ''
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error)
    }
  }
  return failure
}

/** Gives its place, or a sentence when it is not available. */
async function findOrInstall(): Promise<Python | string> {
  const present = await find()
  if (present !== undefined) return present
  const fromDebian = await installPackage(
    'python3-aioquic',
    process.env,
    async () => (await find()) === undefined,
  )
  const installed = await find()
  if (installed !== undefined) return installed
  const fromPip = await pip()
  return (await find()) ?? `aioquic cannot be had: ${fromDebian} ${fromPip}`
}

/** A test without aioquic gives the reason and passes; under CI=true it fails. */
export async function aioquic(t: ExecutionContext): Promise<Python | undefined> {
  const python = await findOrInstall()
  if (typeof python !== 'string') return python
  if (process.env['CI'] === 'true') throw new Error(python)
  t.log(`not run: ${python}`)
  t.pass()
  return undefined
}

// MariaDB servers of the tests. Making the system tables takes more processor time than most files
// of tests: they are made once on a machine, and each server begins with a copy.

import { hash } from 'node:crypto'
import { constants } from 'node:fs'
import { cp, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startMariaDb } from '#src/dev/servers/mariadb'
import type { MariaDbStarted } from '#src/dev/servers/mariadb'
import { findProgram } from '#src/dev/servers/programs'

const CACHE = new URL('../../node_modules/.cache/heliograph', import.meta.url).pathname

/** A server of one test file: its data end with it, so it ends without writing them down. */
export async function startCopiedMariaDb(parameters: readonly string[]): Promise<MariaDbStarted> {
  const template = await templateOf(await findProgram('mariadbd', process.env))
  if (template === undefined) return startMariaDb({ env: process.env, parameters })
  const directory = await mkdtemp(join(tmpdir(), 'heliograph-mariadb-'))
  const removed = (): Promise<void> => rm(directory, { recursive: true, force: true })
  try {
    await copied(template, join(directory, 'data'))
    const started = await startMariaDb({ env: process.env, directory, parameters })
    if (started.kind === 'missing') return started
    const { server } = started
    const stop = async (): Promise<void> => {
      await server.kill('SIGKILL')
      await server.stop()
      await removed()
    }
    return { kind: 'started', server: { ...server, stop } }
  } catch (error) {
    await removed()
    throw error
  }
}

const copied = (from: string, to: string): Promise<void> =>
  cp(from, to, { recursive: true, mode: constants.COPYFILE_FICLONE })

/** The folder with the system tables that this program has made; undefined without the program. */
async function templateOf(program: string | undefined): Promise<string | undefined> {
  if (program === undefined) return undefined
  const { size, mtimeMs } = await stat(program)
  const template = join(CACHE, `mariadb-${hash('sha256', `${program} ${size} ${mtimeMs}`)}`)
  if (await isThere(template)) return template
  await mkdir(CACHE, { recursive: true })
  const directory = await mkdtemp(join(CACHE, 'making-'))
  const started = await startMariaDb({ env: process.env, directory })
  if (started.kind === 'started') {
    await started.server.stop()
    // Another process may have been faster.
    await rename(join(directory, 'data'), template).catch(() => undefined)
  }
  await rm(directory, { recursive: true, force: true })
  return (await isThere(template)) ? template : undefined
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

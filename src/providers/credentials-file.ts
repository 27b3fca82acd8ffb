// Reads a file with a provider's credentials at the start, and again when it has changed.

import { readFile, stat } from 'node:fs/promises'

import type { Logger } from '#domain/telemetry'
import type { Runtime } from '#domain/runtime'

const LOOK_EVERY_MS = 10_000

export interface CredentialsFilePorts {
  readonly runtime: Pick<Runtime, 'every'>
  readonly logger: Logger
}

export interface CredentialsFile<Credentials> {
  /** The variable that names the file. */
  readonly setting: string
  readonly path: string
  /** Throws a sentence that tells what the text should be, and never quotes it. */
  readonly parse: (text: string) => Credentials
  readonly changed: (credentials: Credentials) => void
}

/**
 * Gives the credentials in the file, and a function that stops watching it. Rejects with a
 * sentence.
 */
export async function openCredentials<Credentials>(
  { setting, path, parse, changed }: CredentialsFile<Credentials>,
  { runtime, logger }: CredentialsFilePorts,
): Promise<{ readonly credentials: Credentials; readonly close: () => void }> {
  const load = async (): Promise<Credentials> => parse(await readFile(path, 'utf8'))
  const credentials = await load().catch((error: unknown) => {
    throw new Error(`${setting} names ${path}, which ${problemOf(error)}`)
  })
  let seen = await versionOf(path)
  let isLooking = false
  const look = async (): Promise<void> => {
    const version = await versionOf(path)
    if (version === undefined || version === seen) return
    seen = version
    try {
      changed(await load())
      logger.info('credentials of a push provider were read again', { setting })
    } catch (error) {
      // The earlier credentials stay in force: a file is often written in two steps.
      logger.error('credentials of a push provider cannot be used', {
        setting,
        problem: problemOf(error),
      })
    }
  }
  const close = runtime.every(LOOK_EVERY_MS, () => {
    if (isLooking) return
    isLooking = true
    void look().finally(() => (isLooking = false))
  })
  return { credentials, close }
}

/** A text that changes when the file is written; undefined while the file does not exist. */
async function versionOf(path: string): Promise<string | undefined> {
  try {
    const { mtimeMs, size, ino } = await stat(path)
    return `${mtimeMs} ${size} ${ino}`
  } catch {
    return undefined
  }
}

function problemOf(error: unknown): string {
  if (error instanceof CredentialsError) return error.message
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'an error'
  return code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`
}

/** The fault of credentials, as the end of a sentence about their file. */
export class CredentialsError extends Error {}

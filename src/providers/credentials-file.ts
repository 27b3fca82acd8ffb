// Reads a file with a provider's credentials at the start, and again after each change.

import { readFile, stat } from 'node:fs/promises'

import type { Logger } from '#domain/telemetry'
import type { Runtime } from '#domain/runtime'

const CHECK_EVERY_MS = 10_000

interface CredentialsFilePorts {
  readonly runtime: Pick<Runtime, 'every'>
  readonly logger: Logger
}

interface CredentialsFile<Credentials> {
  /** The environment variable that names the file. */
  readonly setting: string
  readonly path: string
  /** Throws a CredentialsError that says what the text should be and never quotes it. */
  readonly parse: (text: string) => Credentials
  readonly changed: (credentials: Credentials) => void
}

/**
 * Returns the credentials in the file, and a function that stops watching it. Rejects with a
 * sentence for the operator.
 */
export async function openCredentials<Credentials>(
  { setting, path, parse, changed }: CredentialsFile<Credentials>,
  { runtime, logger }: CredentialsFilePorts,
): Promise<{ readonly credentials: Credentials; readonly close: () => void }> {
  const load = async (): Promise<Credentials> => parse(await readFile(path, 'utf8'))
  const credentials = await load().catch((error: unknown) => {
    throw new Error(`${setting} names ${path}, which ${problemOf(error)}`)
  })
  let loaded = await versionOf(path)
  let isChecking = false
  const check = async (): Promise<void> => {
    const version = await versionOf(path)
    if (version === undefined || version === loaded) return
    loaded = version
    try {
      changed(await load())
      logger.info('reloaded the credentials of a push provider', { setting })
    } catch (error) {
      // The earlier credentials stay in force: a program may write the file in two steps.
      logger.error('cannot use the new credentials of a push provider', {
        setting,
        problem: problemOf(error),
      })
    }
  }
  const close = runtime.every(CHECK_EVERY_MS, () => {
    if (isChecking) return
    isChecking = true
    void check().finally(() => (isChecking = false))
  })
  return { credentials, close }
}

/** Returns a text that differs after each write to the file; undefined while there is no file. */
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

/** Says what is wrong with credentials, as the end of a sentence that begins with their file. */
export class CredentialsError extends Error {}

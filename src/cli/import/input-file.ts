// Opens the file of an import, before the first request to the gateway.

import { closeSync, createReadStream, fstatSync, openSync } from 'node:fs'
import type { Readable } from 'node:stream'

import { UsageError } from '#src/cli/endings'

export interface InputFile {
  readonly bytes: number
  /** Returns the contents, once, and closes the file after them. */
  readonly stream: () => Readable
}

/** Sentences for the reasons that a user can remove. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file',
  EACCES: 'you may not read it',
  EISDIR: 'it is a folder',
}

/** Throws UsageError with the name of the file and the reason when it cannot be read. */
export function openInputFile(file: string): InputFile {
  try {
    const descriptor = openSync(file, 'r')
    const state = fstatSync(descriptor)
    if (state.isDirectory()) {
      closeSync(descriptor)
      throw cannotRead(file, 'EISDIR')
    }
    return { bytes: state.size, stream: () => createReadStream(file, { fd: descriptor }) }
  } catch (error) {
    // Windows refuses to open a folder, and then gives a code of its own.
    throw error instanceof Error && 'code' in error ? cannotRead(file, String(error.code)) : error
  }
}

const cannotRead = (file: string, code: string): UsageError =>
  new UsageError(`cannot read ${file}: ${REASONS[code] ?? code}`)

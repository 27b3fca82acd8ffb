// Keeps the positions of a device in a file.

import { open, readFile, rename } from 'node:fs/promises'

import { positionsText, readPositions } from '#src/client/position-store'
import type { PositionStore } from '#src/client/position-store'

/**
 * Keeps positions as JSON in a file. `save` replaces the whole file: after a crash it holds the
 * positions of one save, never a part of them. One program at a time may use it. `load` rejects
 * when it cannot read the file or finds something else in it.
 */
export const filePositions = (path: string): PositionStore => ({
  load: async () => readPositions(await textOf(path), path),
  save: (positions) => replace(path, positionsText(positions)),
})

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return '{}'
    throw error
  }
}

async function replace(path: string, text: string): Promise<void> {
  const next = `${path}.next`
  const file = await open(next, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(next, path)
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT'

// Database files whose tables stand already. Making them takes ten times the processor time of
// opening a file, and a gateway a quarter of its start: they are made once on a machine for each
// version of src/store, and each file begins as a copy.

import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdtempSync, readFileSync } from 'node:fs'
import { copyFile, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

const ROOT = new URL('../..', import.meta.url).pathname
const CACHE = join(ROOT, 'node_modules/.cache/heliograph')

const template = join(CACHE, `tables-${versionOf(['ormconfig.ts', 'src/store/**/*.ts'])}.db`)
let made: Promise<void> | undefined

/** Makes a database file with every table and no row. */
export async function makeTables(path: string): Promise<void> {
  if (!existsSync(template)) await (made ??= makeTemplate())
  await copyFile(template, path)
}

async function makeTemplate(): Promise<void> {
  await mkdir(CACHE, { recursive: true })
  const folder = mkdtempSync(join(CACHE, 'making-'))
  const path = join(folder, 'new.db')
  const { migrateFile } = await import('#src/store/typeorm')
  await migrateFile(`sqlite:${path}`)
  // Another process may have been faster: its file is the same.
  await rename(path, template)
  await rm(folder, { recursive: true, force: true })
}

/** A hash of what these files hold. */
function versionOf(patterns: readonly string[]): string {
  const hash = createHash('sha256')
  for (const file of globSync(patterns, { cwd: ROOT }).toSorted()) {
    hash.update(readFileSync(join(ROOT, file)))
  }
  return hash.digest('hex')
}

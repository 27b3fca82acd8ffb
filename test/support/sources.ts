// The files of the repository and their imports, for the tests of the layout.

import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { MAY_IMPORT } from '#test/support/import-table'

export const ROOT = new URL('../..', import.meta.url).pathname

function filesUnder(folder: string): string[] {
  return readdirSync(join(ROOT, folder)).flatMap((name) => {
    const path = join(folder, name)
    if (statSync(join(ROOT, path)).isDirectory()) return filesUnder(path)
    return /\.tsx?$/.test(path) ? [path] : []
  })
}

/** Every source file of the product. */
export const SOURCES = [...['src', 'actors', 'machines'].flatMap(filesUnder), 'ormconfig.ts']
/** Every file of the tests. */
export const TESTS = filesUnder('test')
export const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

/** The row of the table that a file belongs to: the longest folder that holds it. */
export function rowOf(file: string): string {
  const rows = Object.keys(MAY_IMPORT).filter((row) => file === row || file.startsWith(`${row}/`))
  return rows.toSorted((a, b) => b.length - a.length)[0] ?? ''
}

const IMPORT = /(?<!')(?:from|import)\s*\(?\s*'([^']+)'/g

/** The target of an import: a row of ours, a package, or `node:`. */
export function targetOf(file: string, specifier: string): string {
  if (specifier.startsWith('node:')) return 'node:'
  if (specifier.startsWith('./')) return rowOf(join(file, '..', specifier))
  if (specifier === '#ormconfig') return 'ormconfig.ts'
  if (specifier.startsWith('#src/')) return rowOf(`src/${specifier.slice('#src/'.length)}.ts`)
  if (specifier.startsWith('#domain/')) return 'src/domain'
  if (specifier.startsWith('#console/')) return 'src/console'
  if (specifier.startsWith('#')) return rowOf(`${specifier.slice(1)}.ts`)
  return specifier
}

const ALIASES: Readonly<Record<string, string>> = { domain: 'src/domain', console: 'src/console' }

/** The files of ours that a file imports. */
export function fileImportsOf(file: string): readonly string[] {
  return importsOf(file).flatMap((specifier) => {
    const [, alias = '', rest = ''] = /^#(\w+)\/(.*)$/.exec(specifier) ?? []
    const path = specifier.startsWith('./')
      ? join(file, '..', specifier)
      : `${ALIASES[alias] ?? alias}/${rest.replace(/\.tsx?$/, '')}`
    return [path, `${path}.ts`, `${path}.tsx`].find((each) => SOURCES.includes(each)) ?? []
  })
}

/** The names by which a file imports others. */
export function importsOf(file: string): readonly string[] {
  return [...textOf(file).matchAll(IMPORT)].flatMap(([, specifier]) => specifier ?? [])
}

/** A file and everything that it imports, of ours. */
export function reachedFrom(file: string, reached = new Set<string>()): ReadonlySet<string> {
  if (reached.has(file)) return reached
  reached.add(file)
  for (const target of fileImportsOf(file)) reachedFrom(target, reached)
  return reached
}

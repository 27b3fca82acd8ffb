// The gateway's program as the tests start it: built, when the build is newer than every source
// file, since that starts in two thirds of the time; otherwise the sources themselves.

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = new URL('../..', import.meta.url).pathname
const SOURCES = ['src', 'actors', 'machines', 'ormconfig.ts']

/** True: `dist` is what the sources are now. */
export const isBuilt = buildIsNewest()

/** Node's arguments for a module of `src`, for instance 'main'. */
export const program = (name: string): readonly string[] =>
  isBuilt
    ? [join(ROOT, `dist/src/${name}.js`)]
    : [...process.execArgv, join(ROOT, `src/${name}.ts`)]

/** Node's arguments for a script of `test/support`, which uses the same. */
export const script = (name: string): readonly string[] => [
  ...(isBuilt ? [] : process.execArgv),
  join(ROOT, `test/support/${name}.ts`),
]

function buildIsNewest(): boolean {
  const built = statSync(join(ROOT, 'dist/build.tsbuildinfo'), { throwIfNoEntry: false })
  return built !== undefined && SOURCES.every((name) => newestIn(join(ROOT, name)) < built.mtimeMs)
}

/** The time of the newest file at or below a path, in milliseconds. */
function newestIn(path: string): number {
  const status = statSync(path)
  if (!status.isDirectory()) return status.mtimeMs
  return Math.max(0, ...readdirSync(path).map((name) => newestIn(join(path, name))))
}

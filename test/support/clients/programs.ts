// Where programs are that other people wrote, and what a test does without them.

import { execFileSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'

import type { ExecutionContext } from 'ava'

/** The folder that `npm run clients` fills. */
export const CLIENTS_FOLDER = new URL('../../../node_modules/.clients', import.meta.url).pathname

/** Where pip and npm put programs. */
const FOLDERS = ['bin', 'node_modules/.bin'].map((name) => join(CLIENTS_FOLDER, name))

/** The path of an installed program. */
export function clientProgram(name: string): string {
  const paths = FOLDERS.map((folder) => join(folder, name))
  return paths.find((path) => existsSync(path)) ?? name
}

/** The generator of clients; undefined where it is not installed. */
export const generatorJar = (): string | undefined =>
  globSync(join(CLIENTS_FOLDER, 'lib/*/site-packages/openapi_generator_cli/*.jar'))[0]

/**
 * True when `npm run clients` has put the program there. Otherwise the test says how to get it and
 * passes; under CI=true it fails.
 */
export function hasClient(t: ExecutionContext, name: string): boolean {
  if (existsSync(clientProgram(name))) return true
  const sentence = `${name} is missing: npm run clients`
  if (process.env['CI'] === 'true') t.fail(sentence)
  else {
    t.log(sentence)
    t.pass()
  }
  return false
}

/** True when the machine has the program, which no package of ours installs; otherwise the test says so. */
export function hasProgram(t: ExecutionContext, name: string): boolean {
  if (isThere(name)) return true
  t.log(`not run: this machine has no ${name}`)
  t.pass()
  return false
}

function isThere(name: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

// The environment: the one place that reads process.env. Importing this file reads nothing. A Node
// that is too old for the gateway runs this file, too.

import type { Env } from './setting.ts'

export type { Env } from './setting.ts'

/** The environment of the process. */
export const processEnvironment = (): Env => process.env

/**
 * The environment of a gateway: that of the process over the .env of a directory. Commands that
 * send requests must not read this file: the folder may be somebody else's, who would choose their
 * gateway and what their children run with.
 */
export function gatewayEnvironment(env: Env, directory: string = process.cwd()): Env {
  const text = fileText(`${directory}/.env`)
  if (text === undefined) return env
  const { parseEnv } = process.getBuiltinModule('node:util')
  return { ...parseEnv(text), ...env }
}

/**
 * The text of a file; undefined when there is no such file. A module that imports node:fs loads all
 * its parts, which takes a short command a tenth of its time; so does node:util.
 */
export function fileText(path: string): string | undefined {
  const { readFileSync } = process.getBuiltinModule('node:fs')
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw Object.assign(error as Error, { path }) // Reading a folder gives an error without it.
  }
}

const NODE_MAJOR_MIN = 22

/** The sentence for a person whose Node is too old; undefined for one that is new enough. */
export function nodeRefusal(version: string): string | undefined {
  if (Number.parseInt(version, 10) >= NODE_MAJOR_MIN) return undefined
  return (
    `error: heliograph needs Node ${NODE_MAJOR_MIN} or newer, and this is ${version}; ` +
    '`npx heliograph` and `npm start` run it with the one that the package brings'
  )
}

// Runs Apprise as its users do: one command with the address of a service.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'

import type { ExecutionContext } from 'ava'

/** The package manager's folder of installed tools. */
export const APPRISE_FOLDER = new URL('../../node_modules/.apprise', import.meta.url).pathname

const PROGRAM = `${APPRISE_FOLDER}/bin/apprise`
const TIME_MAX_MS = 60_000

/**
 * True when Apprise is installed. Otherwise the test says how to get it and passes; under CI=true
 * it fails.
 */
export function hasApprise(t: ExecutionContext): boolean {
  if (existsSync(PROGRAM)) return true
  const sentence = 'Apprise is missing: npm run clients'
  if (process.env['CI'] === 'true') t.fail(sentence)
  else {
    t.log(sentence)
    t.pass()
  }
  return false
}

type Environment = Readonly<Record<string, string>>

/** Sends; true when Apprise reports success. */
export async function apprise(
  options: readonly string[],
  environment: Environment = {},
): Promise<boolean> {
  const env = { ...process.env, ...environment }
  try {
    await promisify(execFile)(PROGRAM, [...options], { timeout: TIME_MAX_MS, env })
    return true
  } catch {
    return false // Its exit code says that the service refused the message.
  }
}

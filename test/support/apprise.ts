// Runs Apprise as its users do: one command with the address of a service.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import type { ExecutionContext } from 'ava'

import { clientProgram, hasClient } from '#test/support/clients/programs'
import { WAIT_MS } from './bounds.ts'

/** True when Apprise is installed. (`hasClient`) */
export const hasApprise = (t: ExecutionContext): boolean => hasClient(t, 'apprise')

type Environment = Readonly<Record<string, string>>

/** Sends; true when Apprise reports success. */
export async function apprise(
  options: readonly string[],
  environment: Environment = {},
): Promise<boolean> {
  const env = { ...process.env, ...environment }
  try {
    await promisify(execFile)(clientProgram('apprise'), [...options], { timeout: WAIT_MS, env })
    return true
  } catch {
    return false // Its exit code says that the service refused the message.
  }
}

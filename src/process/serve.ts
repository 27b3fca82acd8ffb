// The way into a gateway process: Node with the settings with which a gateway runs, then its life.

import type { Env } from '#src/config/environment'
import { startAnew } from './node-settings.ts'

/**
 * Runs a gateway until it is stopped and gives its exit code, as lifecycle.ts does. Where Node was
 * started without the settings of a gateway, the same program begins again with them, under the
 * same process id.
 */
export async function serve(env: Env): Promise<number> {
  startAnew()
  return (await import('./lifecycle.ts')).serve(env)
}

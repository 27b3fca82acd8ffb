// A port of 127.0.0.1 for a server that a test starts by its number.

import { reservePort } from '#src/dev/servers/port'
import type { Owner } from '#test/support/gateway'

/** Reserves a port on which nobody listens, until the test ends. */
export async function freePort(t: Owner): Promise<number> {
  const { port, release } = await reservePort()
  t.teardown(release)
  return port
}

// Free TCP ports for servers that must come back on the same port.
//
// They lie below the range from which the system takes ports for outgoing connections: a client
// that tries again while its server is down could otherwise be given the server's own port.

import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { letGoOfFile, tryToHoldFile } from './held-file.ts'

const PORT_MIN = 20_000
const PORT_MAX = 32_000
const ATTEMPTS = 200

export interface ReservedPort {
  readonly port: number
  readonly release: () => Promise<void>
}

/** Reserves a free port on 127.0.0.1 that no other process of ours has reserved. */
export async function reservePort(): Promise<ReservedPort> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(PORT_MIN, PORT_MAX)
    const file = join(tmpdir(), `heliograph-port-${port}.lock`)
    if (!(await tryToHoldFile(file))) continue
    const release = (): Promise<void> => letGoOfFile(file)
    if (await isPortFree(port)) return { port, release }
    await release()
  }
  throw new Error(`no free port between ${PORT_MIN} and ${PORT_MAX}`)
}

/** True when nobody listens on the port of 127.0.0.1 at this moment. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () =>
      server.close(() => resolve(true)),
    )
  })
}

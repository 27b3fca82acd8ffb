// Reserves free TCP ports for servers that must restart on the same port.
//
// The ports lie below the range that the system uses for outgoing connections. Otherwise a client
// that reconnects while its server is down could get the server's own port.

import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { unlockFile, tryLockFile } from './lock-file.ts'

const PORT_MIN = 20_000
const PORT_MAX = 32_000
const ATTEMPTS = 200

export interface ReservedPort {
  readonly port: number
  readonly release: () => Promise<void>
}

/** Reserves a free port on 127.0.0.1 that no other process has reserved with this function. */
export async function reservePort(): Promise<ReservedPort> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(PORT_MIN, PORT_MAX)
    const file = join(tmpdir(), `heliograph-port-${port}.lock`)
    if (!(await tryLockFile(file))) continue
    const release = (): Promise<void> => unlockFile(file)
    if (await isPortFree(port)) return { port, release }
    await release()
  }
  throw new Error(`no free port between ${PORT_MIN} and ${PORT_MAX}`)
}

/** True when no process listens on the port of 127.0.0.1 now. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () =>
      server.close(() => resolve(true)),
    )
  })
}

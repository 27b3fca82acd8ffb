// The stand-ins as a process of their own: what takes the pushes shares no event loop with what
// sends them. Started with IPC; answers each message with what it has taken since the one before.

import { startPushServers } from '#src/dev/servers/push/push-servers'

export interface StandInStarted {
  readonly env: Readonly<Record<string, string>>
  readonly port: number
}

export interface Taken {
  readonly pushes: number
  /** Milliseconds from the first to the last of them. */
  readonly tookMs: number
}

const [directory = ''] = process.argv.slice(2)
const servers = await startPushServers(directory, { nowMs: Date.now })
let pushes = 0
let firstMs = 0
let lastMs = 0
servers.apns.taken = () => {
  lastMs = performance.now()
  if (pushes === 0) firstMs = lastMs
  pushes += 1
}
process.on('message', () => {
  process.send?.({ pushes, tookMs: lastMs - firstMs } satisfies Taken)
  pushes = 0
})
process.once('disconnect', () => process.exit(0))
process.send?.({ env: servers.env, port: servers.apns.standIn.port } satisfies StandInStarted)

// A stand-in as a process of its own: what takes the pushes shares no event loop with what sends
// them. Started with IPC; answers each message with what it has taken since the one before.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { selfSigned } from '#src/dev/servers/certificate'
import { startPushServers } from '#src/dev/servers/push/push-servers'
import { WebPushServer } from '#test/support/web-push-server'

export interface StandInStarted {
  readonly env: Readonly<Record<string, string>>
  readonly port: number
}

export interface Taken {
  readonly pushes: number
  /** Milliseconds from the first to the last of them. */
  readonly tookMs: number
}

const [directory = '', kind = 'apns'] = process.argv.slice(2)
let pushes = 0
let firstMs = 0
let lastMs = 0
const taken = (): void => {
  lastMs = performance.now()
  if (pushes === 0) firstMs = lastMs
  pushes += 1
}

async function startApple(): Promise<StandInStarted> {
  const { apns, env } = await startPushServers(directory, { nowMs: Date.now })
  apns.taken = taken
  return { env, port: apns.standIn.port }
}

async function startWebPush(): Promise<StandInStarted> {
  const certificate = selfSigned(['127.0.0.1'], { nowMs: Date.now() })
  const authority = join(directory, 'authority.pem')
  await writeFile(authority, certificate.certificate)
  const server = await WebPushServer.start({ certificate })
  server.taken = taken
  const env = {
    SERVICE_WEBPUSH_SUBJECT: 'mailto:push@gateway.example',
    SERVICE_WEBPUSH_PRIVATE_NETWORKS: '127.0.0.1',
    NODE_EXTRA_CA_CERTS: authority,
  }
  return { env, port: server.port }
}

const started = await (kind === 'apns' ? startApple() : startWebPush())
process.on('message', () => {
  process.send?.({ pushes, tookMs: lastMs - firstMs } satisfies Taken)
  pushes = 0
})
process.once('disconnect', () => process.exit(0))
process.send?.(started)

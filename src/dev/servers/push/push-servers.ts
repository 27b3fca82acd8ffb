// Starts both stand-ins, with everything that a gateway needs to use them in place of Apple and
// Google: keys, settings, and redirected connections.

import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { selfSigned } from '#src/dev/servers/certificate'
import { ApnsServer } from './apns-server.ts'
import { FCM_HOSTS, FcmServer } from './fcm-server.ts'

export interface PushServers {
  readonly apns: ApnsServer
  readonly fcm: FcmServer
  /** The environment variables for a gateway process that uses them. */
  readonly env: Readonly<Record<string, string>>
  close(): Promise<void>
}

const APPLE = { keyId: 'STANDIN001', teamId: 'STANDIN002', topic: 'org.example.heliograph' }
const GOOGLE = { projectId: 'heliograph-stand-in', clientEmail: 'push@heliograph.example' }

/** Starts both, with new keys and a new certificate, which it writes into the caller's folder. */
export async function startPushServers(
  directory: string,
  { nowMs }: { readonly nowMs: () => number },
): Promise<PushServers> {
  const certificate = selfSigned(['localhost', '127.0.0.1', ...FCM_HOSTS], { nowMs: nowMs() })
  const appleKey = pem(generateKeyPairSync('ec', { namedCurve: 'P-256' }))
  const googleKey = pem(generateKeyPairSync('rsa', { modulusLength: 2048 }))
  const file = (name: string): string => join(directory, name)
  await writeFile(file('authority.pem'), certificate.certificate)
  await writeFile(file('apns.p8'), appleKey, { mode: 0o600 })
  await writeFile(file('fcm.json'), serviceAccount(googleKey), { mode: 0o600 })
  const apns = await ApnsServer.start({ certificate, ...APPLE, key: appleKey, nowMs })
  const fcm = await FcmServer.start({ certificate, ...GOOGLE, key: googleKey, nowMs })
  const preload = new URL(import.meta.resolve('#src/dev/servers/push/redirect-preload'))
  for (const [from, to] of Object.entries(fcm.redirects)) preload.searchParams.set(from, to)
  return {
    apns,
    fcm,
    env: {
      SERVICE_APNS_KEY_FILE: file('apns.p8'),
      SERVICE_APNS_KEY_ID: APPLE.keyId,
      SERVICE_APNS_TEAM_ID: APPLE.teamId,
      SERVICE_APNS_TOPIC: APPLE.topic,
      SERVICE_APNS_HOST: apns.host,
      SERVICE_FCM_CREDENTIALS_FILE: file('fcm.json'),
      NODE_EXTRA_CA_CERTS: file('authority.pem'),
      NODE_OPTIONS: `--import=${preload.href}`,
    },
    close: async () => {
      await apns.standIn.close()
      await fcm.standIn.close()
    },
  }
}

const pem = ({ privateKey }: ReturnType<typeof generateKeyPairSync>): string =>
  privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

const serviceAccount = (key: string): string =>
  JSON.stringify({
    type: 'service_account',
    project_id: GOOGLE.projectId,
    client_email: GOOGLE.clientEmail,
    private_key: key,
  })

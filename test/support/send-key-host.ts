// The host that clients of the send-key tool cannot be told to change, served by an ingress here.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { ExecutionContext } from 'ava'

import { selfSigned } from '#src/dev/servers/certificate'
import { styleAtRoot } from '#src/compat/styles'
import { temporaryFolder } from '#test/support/gateway'
import { CREDENTIALS } from '#test/support/making'
import { startIngress } from '#test/support/start-ingress'
import type { Rig } from '#test/support/start-ingress'

export const SEND_KEY_HOST = 'sctapi.ftqq.com'

export interface SendKeyHost {
  readonly rig: Rig
  /** PEM, and the file that it stands in. */
  readonly certificate: string
  readonly certFile: string
  /** Opens the channel of the rig. */
  readonly key: string
}

/** HTTPS under the name of the host; the style stands at its root. */
export async function startSendKeyHost(t: ExecutionContext): Promise<SendKeyHost> {
  const folder = await temporaryFolder(t)
  const { certificate, key: privateKey } = selfSigned([SEND_KEY_HOST], { nowMs: Date.now() })
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  await Promise.all([writeFile(certFile, certificate), writeFile(keyFile, privateKey)])
  const root = { hostName: SEND_KEY_HOST, ...styleAtRoot('sendkey', { keptMs: 1 }) }
  const rig = await startIngress(t, { root, tls: { certFile, keyFile } })
  const made = await rig.acceptance.keys.create(
    { ...CREDENTIALS },
    { receivedAtMs: rig.time.nowMs() },
  )
  if (!('key' in made)) throw new Error('no key was made')
  return { rig, certificate, certFile, key: made.key }
}

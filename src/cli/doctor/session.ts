// Checks that the gateway answers a hello of the session protocol over one carrier.

import { randomBytes } from 'node:crypto'

import { parseDeviceKey } from '#domain/identity'
import type { Carrier } from '#src/client/carrier'
import { encodeDeviceFrame } from '#src/schemas/frames'
import type { GatewayFrame } from '#src/schemas/frames'
import { readGatewayFrame } from '#src/schemas/read-frames'
import { ok, problem } from './finding.ts'
import type { Finding } from './finding.ts'

const WITHIN_MS = 10_000
const KEY_BYTES = 16

/**
 * Sends a hello with a device key that no device has, which the gateway must refuse with the code
 * for that. A real key would end the session of its device.
 */
export async function examineSession(
  check: string,
  carrier: Carrier,
  token: string | undefined,
): Promise<Finding> {
  const deviceKey = parseDeviceKey(randomBytes(KEY_BYTES).toString('hex'))
  if (deviceKey === undefined) throw new Error('16 bytes in hex are a device key')
  const { promise, resolve } = Promise.withResolvers<GatewayFrame | string>()
  const hello = { kind: 'hello', deviceKey, gatewayToken: token, client: 'doctor' } as const
  const connection = carrier({
    opened: () => connection.send(encodeDeviceFrame({ ...hello, cursors: new Map() })),
    received: (text) => resolve(readGatewayFrame(text) ?? 'the server speaks another protocol'),
    closed: (reason) => resolve(reason),
  })
  const timer = setTimeout(() => resolve('the server does not answer a hello'), WITHIN_MS)
  const answer = await promise
  clearTimeout(timer)
  connection.close()
  return findingOf(check, answer)
}

function findingOf(check: string, answer: GatewayFrame | string): Finding {
  if (typeof answer !== 'string' && answer.kind === 'error') {
    if (answer.code === 'device_key_not_found') return ok(check, 'the gateway answers a hello')
    if (answer.code === 'authentication_failed') {
      const hint = 'set HELIOGRAPH_TOKEN or name --token-file'
      return problem(check, 'the gateway token is missing or wrong', hint)
    }
  }
  const detail = typeof answer === 'string' ? answer : `an unexpected ${answer.kind}`
  const hint = 'a proxy in front must pass WebSocket upgrades on, and keep idle connections'
  return problem(check, detail, hint)
}

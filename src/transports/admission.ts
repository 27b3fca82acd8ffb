// Who may have a session: the gateway token and the device key. (Specification: Gateway token)

import { hash, timingSafeEqual } from 'node:crypto'

import { parseDeviceId } from '#domain/identity'
import type { DeviceId, DeviceKey } from '#domain/identity'
import type { Hello } from '#src/schemas/frames'
import type { Carrier } from './carrier.ts'

/** What wrong gateway tokens are counted with: something when the address has no more attempts. */
export interface TokenBudget {
  take(address: string): object | undefined
}

export type Verdict = 'admitted' | 'authentication_failed' | 'rate_limited'

const BEARER = /^bearer +(\S+)$/i

export type Gate = (hello: Hello, carrier: Carrier) => Verdict

/** Makes the check of a hello for a gateway token; with an empty one everybody passes. */
export function gate(token: string, budget: TokenBudget | undefined): Gate {
  if (token === '') return () => 'admitted'
  const expected = digest(token)
  const isToken = (given: string | undefined): boolean =>
    given !== undefined && timingSafeEqual(digest(given), expected)
  return ({ gatewayToken }, { authorization, address }) => {
    const isKnown = isToken(BEARER.exec(authorization)?.[1]) || isToken(gatewayToken)
    if (isKnown) return 'admitted'
    return budget?.take(address) === undefined ? 'authentication_failed' : 'rate_limited'
  }
}

/** The name under which a device is stored: the SHA-256 of its key. */
export function deviceIdOf(deviceKey: DeviceKey): DeviceId {
  const deviceId = parseDeviceId(hash('sha256', deviceKey, 'hex'))
  if (deviceId === undefined) throw new TypeError('SHA-256 gave no 64 hex digits')
  return deviceId
}

const digest = (text: string): Buffer => hash('sha256', text, 'buffer')

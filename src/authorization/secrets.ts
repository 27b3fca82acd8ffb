// The secrets by which the nodes of a gateway know their own cookies, forms and signatures.
//
// Invariants:
//   secrets/1. A secret is made one period before its use, so every node knows it by then. It
//              stays valid for one period after it: no node refuses the cookie or token of another.

import { generateKeyPairSync } from 'node:crypto'
import type { JsonWebKey } from 'node:crypto'

import type { AuthorizationRecordStore, PeriodSecret } from '#domain/authorization-store'
import type { Runtime } from '#domain/runtime'

const PERIOD_MS = 30 * 86_400_000
const COOKIE_BYTES = 32

export interface Secrets {
  /** The number of the period; it changes with the secrets. */
  readonly period: number
  /** The first one is for writing, any is good for reading. */
  readonly cookies: readonly string[]
  /** The first one is for signing. */
  readonly keys: readonly JsonWebKey[]
}

interface SecretPorts {
  readonly records: Pick<AuthorizationRecordStore, 'secrets'>
  readonly runtime: Pick<Runtime, 'nowMs' | 'entropy'>
}

export const periodAt = (nowMs: number): number => Math.floor(nowMs / PERIOD_MS)

/** The secrets of now; makes those that no node has made yet. */
export async function currentSecrets({ records, runtime }: SecretPorts): Promise<Secrets> {
  const period = periodAt(runtime.nowMs())
  const known = async (purpose: string, make: () => string): Promise<readonly string[]> => {
    const fresh = [period, period + 1].map((of) => ({ period: of, secret: make() })) // secrets/1
    return ordered(await records.secrets(purpose, fresh), period)
  }
  const cookies = await known('cookie', () => runtime.entropy(COOKIE_BYTES).toString('base64url'))
  const keys = await known('signing', newKey)
  return { period, cookies, keys: keys.map((text) => JSON.parse(text) as JsonWebKey) }
}

/** The secrets, the one of this period first. */
const ordered = (secrets: readonly PeriodSecret[], period: number): readonly string[] =>
  secrets
    .toSorted((one, other) => rank(one, period) - rank(other, period))
    .map(({ secret }) => secret)

const rank = (secret: PeriodSecret, period: number): number =>
  secret.period === period ? 0 : 1 + Math.abs(secret.period - period)

function newKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return JSON.stringify({ ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' })
}

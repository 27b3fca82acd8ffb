// The setting that puts a compatibility style at the root of a listener of its own, for clients
// that allow no path prefix. (docs/migrating.md)

import { address, oneOf, read, refuse } from './setting.ts'
import type { Address, Env } from './setting.ts'

export type CompatibilityStyleName = (typeof STYLES)[number]
const STYLES = ['topic', 'sendkey', 'devicekey'] as const

export interface CompatibilityRoot {
  readonly style: CompatibilityStyleName
  readonly address: Address
}

/** Undefined when no style has a listener of its own; the two settings go together. */
export function compatibilityRoot(env: Env): CompatibilityRoot | undefined {
  const isNamed = read(env, 'SERVICE_COMPAT_ROOT') !== undefined
  const hasAddress = read(env, 'SERVICE_COMPAT_ADDR') !== undefined
  if (!isNamed && !hasAddress) return undefined
  const both = 'SERVICE_COMPAT_ROOT and SERVICE_COMPAT_ADDR, or neither'
  if (!isNamed) refuse('SERVICE_COMPAT_ROOT', 'is missing', both)
  if (!hasAddress) refuse('SERVICE_COMPAT_ADDR', 'is missing', both)
  return Object.freeze({
    style: oneOf(env, 'SERVICE_COMPAT_ROOT', 'topic', STYLES),
    address: address(env, 'SERVICE_COMPAT_ADDR', ''),
  })
}

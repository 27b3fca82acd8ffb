// The setting that puts a compatibility style at the root of a listener or a host name of its own,
// for clients that allow no path prefix. (docs/migrating.md)

import { address, oneOf, read, refuse } from './setting.ts'
import type { Address, Env } from './setting.ts'

type CompatibilityStyleName = (typeof STYLES)[number]
const STYLES = ['topic', 'sendkey', 'devicekey'] as const

/** At least one of address and host name is there. */
export interface CompatibilityRoot {
  readonly style: CompatibilityStyleName
  /** A listener of its own. */
  readonly address: Address | undefined
  /** A name of the main listener, in lower case. */
  readonly hostName: string | undefined
}

const PLACES = ['SERVICE_COMPAT_ADDR', 'SERVICE_COMPAT_HOST'] as const
const TOGETHER = `SERVICE_COMPAT_ROOT with ${PLACES.join(', or with ')}, or none of them`

/** Undefined when no style stands at a root. */
export function compatibilityRoot(env: Env): CompatibilityRoot | undefined {
  const isNamed = read(env, 'SERVICE_COMPAT_ROOT') !== undefined
  const hasPlace = PLACES.some((name) => read(env, name) !== undefined)
  if (!isNamed && !hasPlace) return undefined
  if (!isNamed) refuse('SERVICE_COMPAT_ROOT', 'is missing', TOGETHER)
  if (!hasPlace) refuse(PLACES[0], 'is missing', TOGETHER)
  return Object.freeze({
    style: oneOf(env, 'SERVICE_COMPAT_ROOT', 'topic', STYLES),
    address:
      read(env, 'SERVICE_COMPAT_ADDR') === undefined
        ? undefined
        : address(env, 'SERVICE_COMPAT_ADDR', ''),
    hostName: hostName(env, 'SERVICE_COMPAT_HOST'),
  })
}

function hostName(env: Env, name: string): string | undefined {
  const text = read(env, name)?.toLowerCase()
  if (text === undefined) return undefined
  if (!/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(text) || text.length > 253) {
    refuse(name, `is ${JSON.stringify(text)}`, 'a host name without scheme, port and path')
  }
  return text
}

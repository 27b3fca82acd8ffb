// Settings that nobody reads: mistyped names, which would otherwise be ignored in silence.

import { configFrom } from './config.ts'
import type { Env } from './setting.ts'

const PREFIX = 'SERVICE_'

/** Returns every name that the configuration reads: without any setting it asks for each. */
export function settingNames(): ReadonlySet<string> {
  const names = new Set<string>()
  const empty = new Proxy<Env>({}, { get: (_env, name) => void names.add(String(name)) })
  configFrom(empty, { entropy: (bytes) => Buffer.alloc(bytes) })
  return names
}

/** Returns the names in the environment that begin like a setting and are none. */
export function unknownSettings(env: Env): readonly string[] {
  const known = settingNames()
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !known.has(name))
    .toSorted()
}

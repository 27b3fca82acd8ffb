// Reads one setting, checks it, or refuses it with a sentence that names it, what is wrong and what
// is allowed.

import { existsSync } from 'node:fs'
import { BlockList, isIP } from 'node:net'

export type Env = Readonly<Record<string, string | undefined>>

/** A setting that cannot be used. The message is for the operator. */
export class ConfigError extends Error {}

export interface Address {
  readonly host: string
  readonly port: number
}

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** The value without white space around it; undefined when it is blank. */
export function read(env: Env, name: string): string | undefined {
  const value = env[name]?.trim()
  return value === '' ? undefined : value
}

/** Stops the start with a sentence. `problem` and `allowed` must not hold secrets. */
export function refuse(name: string, problem: string, allowed: string): never {
  throw new ConfigError(`${name} ${problem}; allowed: ${allowed}`)
}

interface Range {
  readonly fallback: number
  readonly min: number
  readonly max: number
}

/** A whole number within a range. */
export function integer(env: Env, name: string, { fallback, min, max }: Range): number {
  const text = read(env, name)
  if (text === undefined) return fallback
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < min || value > max) {
    refuse(name, `is ${JSON.stringify(text)}`, `a whole number from ${min} to ${max}`)
  }
  return value
}

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS }

interface DurationRange {
  readonly fallback: string
  readonly min: number
  readonly max: number
}

/** A duration, in milliseconds. */
export function duration(env: Env, name: string, { fallback, min, max }: DurationRange): number {
  const text = read(env, name) ?? fallback
  const match = /^(\d+)(ms|s|m|h|d)$/.exec(text)
  const value = match === null ? Number.NaN : Number(match[1]) * (UNIT_MS[match[2] ?? ''] ?? 0)
  if (!(value >= min && value <= max)) {
    const range = `a duration like 90s, 20m, 12h or 7d, from ${min / 1000}s to ${max / 1000}s`
    refuse(name, `is ${JSON.stringify(text)}`, range)
  }
  return value
}

export function oneOf<Name extends string>(
  env: Env,
  name: string,
  fallback: Name,
  allowed: readonly Name[],
): Name {
  const text = read(env, name) ?? fallback
  const found = allowed.find((entry) => entry === text)
  return found ?? refuse(name, `is ${JSON.stringify(text)}`, allowed.join(', '))
}

export function address(env: Env, name: string, fallback: string): Address {
  const text = read(env, name) ?? fallback
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text)
  const host = match?.[1] ?? match?.[2] ?? ''
  const port = Number(match?.[3] ?? Number.NaN)
  if (match === null || port > 65_535) {
    refuse(name, `is ${JSON.stringify(text)}`, 'host:port or [IPv6]:port, port 0 to 65535')
  }
  return Object.freeze({ host, port })
}

/** A list of CIDR blocks between commas; a bare address is a block of one. */
export function cidrs(env: Env, name: string): readonly string[] {
  const blocks = (read(env, name) ?? '').split(',').map((block) => block.trim())
  const list = new BlockList()
  for (const block of blocks.filter((entry) => entry !== '')) {
    const [base = '', prefix, more] = block.split('/')
    const family = isIP(base)
    const bits = prefix === undefined ? (family === 6 ? 128 : 32) : Number(prefix)
    const whole = more === undefined && (prefix === undefined || /^\d{1,3}$/.test(prefix))
    if (family === 0 || !whole || bits > (family === 6 ? 128 : 32)) {
      refuse(name, `holds ${JSON.stringify(block)}`, 'a comma list like 10.0.0.0/8,::1/128')
    }
    list.addSubnet(base, bits, family === 6 ? 'ipv6' : 'ipv4')
  }
  return Object.freeze(blocks.filter((entry) => entry !== ''))
}

/** Refuses the name of a file that is not there. */
export function refuseMissingFile(name: string, file: string | undefined): void {
  if (file === undefined || existsSync(file)) return
  refuse(name, `names ${file}, which does not exist`, 'a file that this process can read')
}

/** The address by which others reach the gateway, without a slash at its end. */
export function publicBaseUrl(env: Env): string | undefined {
  const text = read(env, 'SERVICE_PUBLIC_BASE_URL')
  if (text === undefined) return undefined
  const url = URL.parse(text)
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.search !== '') {
    refuse('SERVICE_PUBLIC_BASE_URL', 'is not an https origin', 'for example https://push.example')
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

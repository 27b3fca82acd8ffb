// The settings of device connections: the carriers of their sessions, the address of each, and its
// bounds. (decisions.md 1)

import { existsSync } from 'node:fs'

import { CARRIERS } from '#domain/carrier'
import type { CarrierName } from '#domain/carrier'
import { address, integer, oneOf, read, refuse } from './setting.ts'
import type { Address, Env } from './setting.ts'

export interface Tls {
  readonly certFile: string
  readonly keyFile: string
}

/** The address of a carrier with a port of its own. */
interface PrivateListener extends Address {
  /** The port in the gateway's profile; undefined for the bound one. */
  readonly publicPort: number | undefined
}

export interface PrivateTransports {
  /** The carriers that are on. */
  readonly carriers: readonly CarrierName[]
  /** `isPlain`: a proxy in front ends TLS, so this port has none. */
  readonly tcp: PrivateListener & { readonly isPlain: boolean }
  readonly quic: PrivateListener
  readonly tls: Tls | undefined
  /** Bounds of each carrier. */
  readonly connections: { readonly total: number; readonly perAddress: number }
}

const FALLBACK = '127.0.0.1:5223'
const CONNECTIONS_MAX = 10_000_000
export const CERT = 'SERVICE_PRIVATE_TLS_CERT'

/** Reads the settings of the private transports; a bad one throws ConfigError. */
export function privateTransports(env: Env): PrivateTransports {
  const carriers = carriersOf(env)
  const isPlain = oneOf(env, 'SERVICE_PRIVATE_TCP_TLS', 'on', ['on', 'off']) === 'off'
  const files = tls(env, CERT, 'SERVICE_PRIVATE_TLS_KEY')
  if (files === undefined) {
    const allowed = 'a PEM file, together with SERVICE_PRIVATE_TLS_KEY'
    if (carriers.includes('quic')) {
      refuse(CERT, 'is missing, and SERVICE_PRIVATE_TRANSPORTS has quic', allowed)
    }
    if (carriers.includes('tcp') && !isPlain) {
      const orPlain = `${allowed}, or SERVICE_PRIVATE_TCP_TLS=off behind a proxy that ends TLS`
      refuse(CERT, 'is missing, and SERVICE_PRIVATE_TRANSPORTS has tcp', orPlain)
    }
  }
  return Object.freeze({
    carriers,
    tcp: Object.freeze({
      ...address(env, 'SERVICE_PRIVATE_TCP_ADDR', FALLBACK),
      publicPort: port(env, 'SERVICE_PRIVATE_TCP_PORT'),
      isPlain,
    }),
    quic: Object.freeze({
      ...address(env, 'SERVICE_PRIVATE_QUIC_ADDR', FALLBACK),
      publicPort: port(env, 'SERVICE_PRIVATE_QUIC_PORT'),
    }),
    tls: files,
    connections: Object.freeze({
      total: connections(env, 'SERVICE_PRIVATE_CONNECTIONS', 100_000),
      perAddress: connections(env, 'SERVICE_PRIVATE_CONNECTIONS_PER_ADDRESS', 20_000),
    }),
  })
}

/** A certificate with its key, both named or neither. */
export function tls(env: Env, certName: string, keyName: string): Tls | undefined {
  const certFile = read(env, certName)
  const keyFile = read(env, keyName)
  if (certFile === undefined && keyFile === undefined) return undefined
  for (const [name, file] of [
    [certName, certFile],
    [keyName, keyFile],
  ] as const) {
    if (file === undefined) refuse(name, 'is missing', 'a PEM file, together with the other one')
    if (!existsSync(file)) refuse(name, `names ${file}, which does not exist`, 'a PEM file')
  }
  return Object.freeze({ certFile: certFile ?? '', keyFile: keyFile ?? '' })
}

function carriersOf(env: Env): readonly CarrierName[] {
  const text = read(env, 'SERVICE_PRIVATE_TRANSPORTS') ?? 'wss'
  if (text === 'none') return Object.freeze([])
  const names: readonly string[] = text.split(',').map((name) => name.trim())
  const known: readonly string[] = CARRIERS
  if (!names.every((name) => known.includes(name)) || new Set(names).size !== names.length) {
    const allowed = `none, or one or more of ${CARRIERS.join(', ')}`
    refuse('SERVICE_PRIVATE_TRANSPORTS', `is ${JSON.stringify(text)}`, allowed)
  }
  return Object.freeze(CARRIERS.filter((name) => names.includes(name)))
}

function port(env: Env, name: string): number | undefined {
  if (read(env, name) === undefined) return undefined
  return integer(env, name, { fallback: 0, min: 1, max: 65_535 })
}

const connections = (env: Env, name: string, fallback: number): number =>
  integer(env, name, { fallback, min: 1, max: CONNECTIONS_MAX })

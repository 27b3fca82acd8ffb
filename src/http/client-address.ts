// The address of the caller: the socket's, or the one that trusted proxies name. (decisions.md 1)
//
// Invariants:
//   client-address/1. A forwarding header is believed only as far as trusted proxies wrote it: the
//                     walk goes from the right and ends at the first untrusted address.
//   client-address/2. When X-Forwarded-For and Forwarded disagree, one of them is the caller's own
//                     invention, so neither is believed.

import { BlockList, SocketAddress, isIP } from 'node:net'

/** Reads the socket's address, and every line of a header, joined by commas. */
export interface AddressSource {
  socketAddress(): string
  headerLines(name: string): string
}

export interface ClientAddress {
  (source: AddressSource): string
  /** True when the head of a request may say it: then it can be read no later. */
  readonly readsHeaders: boolean
}

/** The address of a socket as the library writes it. */
export const socketAddressOf = (response: {
  readonly getRemoteAddressAsText: () => ArrayBuffer
}): string => Buffer.from(response.getRemoteAddressAsText()).toString('latin1')

/** Stands for the address of a caller that is gone. */
export const UNKNOWN = 'unknown'

/** Tells whether a normalised address is that of a trusted proxy. */
export function trustedProxyCheck(trustedProxies: readonly string[]): (address: string) => boolean {
  if (trustedProxies.length === 0) return () => false
  const trusted = blockList(trustedProxies)
  return (address) => trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** Makes the reader for a list of trusted CIDR blocks or single addresses. */
export function clientAddress(trustedProxies: readonly string[]): ClientAddress {
  const isTrusted = trustedProxyCheck(trustedProxies)
  const read = (source: AddressSource): string => {
    const socket = normaliseAddress(source.socketAddress()) ?? UNKNOWN
    if (!isTrusted(socket)) return socket
    const viaList = walk(socket, listHops(source.headerLines('x-forwarded-for')), isTrusted)
    const viaForwarded = walk(socket, forwardedHops(source.headerLines('forwarded')), isTrusted)
    if (viaForwarded === undefined) return viaList ?? socket
    if (viaList === undefined || viaList === viaForwarded) return viaForwarded
    return socket // client-address/2
  }
  return Object.assign(read, { readsHeaders: trustedProxies.length > 0 })
}

/** The last address that a trusted proxy vouches for; undefined when there are no hops. */
function walk(
  socket: string,
  hops: readonly string[],
  isTrusted: (address: string) => boolean,
): string | undefined {
  if (hops.length === 0) return undefined
  let known = socket
  for (const hop of hops.toReversed()) {
    const address = normaliseAddress(hop)
    if (address === undefined) return known
    known = address
    if (!isTrusted(address)) return known // client-address/1
  }
  return known
}

const listHops = (header: string): readonly string[] =>
  header === '' ? [] : header.split(',').map((hop) => hop.trim())

/**
 * The `for` of each element of a Forwarded header, as RFC 7239 writes it; '' for an element without
 * one.
 */
function forwardedHops(header: string): readonly string[] {
  if (header === '') return []
  return header.split(',').map((element) => {
    const pair = element.split(';').find((part) => /^\s*for\s*=/i.test(part))
    const value = pair?.slice(pair.indexOf('=') + 1).trim() ?? ''
    return value.replace(/^"(.*)"$/, '$1')
  })
}

/**
 * One spelling for each address: without port and brackets, IPv6 compressed, IPv4 inside IPv6 as
 * IPv4; undefined when the text is no address.
 */
export function normaliseAddress(text: string): string | undefined {
  if (isIP(text) === 4) return text
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
  const family = isIP(bare)
  if (family === 4) return bare
  if (family === 0 || bare.includes('%')) return undefined
  const { address } = new SocketAddress({ address: bare, family: 'ipv6' })
  const mapped = /^::ffff:([\d.]+)$/.exec(address)?.[1]
  return mapped ?? address
}

function blockList(blocks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const block of blocks) {
    const [base = '', prefix] = block.split('/')
    const family = isIP(base) === 6 ? 'ipv6' : 'ipv4'
    list.addSubnet(base, Number(prefix ?? (family === 'ipv6' ? 128 : 32)), family)
  }
  return list
}

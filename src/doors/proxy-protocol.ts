// Reads the PROXY protocol, versions 1 and 2, by which a proxy names the client of its bytes.
// https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt
//
// A frame begins with a byte of 0 and TLS with 0x16, so the first byte tells a header from both.

import { isIPv4, isIPv6 } from 'node:net'

/** The PROXY header at the beginning of a connection. */
type ProxyHeader =
  /** More bytes are needed to decide. */
  | { readonly kind: 'more' }
  | { readonly kind: 'none' }
  | { readonly kind: 'broken' }
  /** `address` is undefined when the proxy itself is the client, or does not know it. */
  | { readonly kind: 'header'; readonly length: number; readonly address: string | undefined }

const V1_BYTES_MAX = 107
const V1 = 'PROXY '
const V1_START = Buffer.from(V1)
const V2 = '\r\n\r\n\0\r\nQUIT\n'
const V2_START = Buffer.from(V2)
const V2_HEAD_BYTES = 16
/** The most bytes of addresses and additions in version 2; proxies send far less. */
const V2_REST_BYTES_MAX = 4_096

const MORE: ProxyHeader = { kind: 'more' }
const BROKEN: ProxyHeader = { kind: 'broken' }

/** Reads the header at the beginning of a connection, if there is one. */
export function readProxyHeader(bytes: Buffer): ProxyHeader {
  if (begins(bytes, V1_START)) return readV1(bytes)
  return begins(bytes, V2_START) ? readV2(bytes) : { kind: 'none' }
}

/** True also when the bytes are a first part of the start, but not for no bytes. */
const begins = (bytes: Buffer, start: Buffer): boolean =>
  bytes.length > 0 &&
  bytes.subarray(0, start.length).equals(start.subarray(0, Math.min(bytes.length, start.length)))

function readV1(bytes: Buffer): ProxyHeader {
  const end = bytes.subarray(0, V1_BYTES_MAX).indexOf('\r\n')
  if (end < 0) return bytes.length < V1_BYTES_MAX ? MORE : BROKEN
  const length = end + 2
  const [, family, source = '', target = '', ...ports] = bytes.toString('latin1', 0, end).split(' ')
  if (family === 'UNKNOWN') return { kind: 'header', length, address: undefined }
  const isAddress = family === 'TCP4' ? isIPv4 : family === 'TCP6' ? isIPv6 : undefined
  const isGood = isAddress?.(source) === true && isAddress(target)
  if (!isGood || ports.length !== 2 || !ports.every(isPort)) return BROKEN
  return { kind: 'header', length, address: source }
}

const isPort = (text: string): boolean => /^(0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535

const LOCAL = 0x20
const PROXIED = 0x21
/** Bytes of an address by family and protocol: stream or datagram over IPv4, over IPv6. */
const ADDRESS_BYTES: ReadonlyMap<number, 4 | 16> = new Map([
  [0x11, 4],
  [0x12, 4],
  [0x21, 16],
  [0x22, 16],
])
/** No family, or sockets of the machine itself: a proxy that names no address. */
const NAMELESS: ReadonlySet<number> = new Set([0x00, 0x31, 0x32])
const PORTS_BYTES = 4

function readV2(bytes: Buffer): ProxyHeader {
  if (bytes.length < V2_HEAD_BYTES) return MORE
  const command = bytes.readUInt8(12)
  const family = bytes.readUInt8(13)
  const rest = bytes.readUInt16BE(14)
  if ((command !== LOCAL && command !== PROXIED) || rest > V2_REST_BYTES_MAX) return BROKEN
  const length = V2_HEAD_BYTES + rest
  if (bytes.length < length) return MORE
  if (command === LOCAL || NAMELESS.has(family)) {
    return { kind: 'header', length, address: undefined }
  }
  const size = ADDRESS_BYTES.get(family)
  if (size === undefined || rest < 2 * size + PORTS_BYTES) return BROKEN
  const source = bytes.subarray(V2_HEAD_BYTES, V2_HEAD_BYTES + size)
  return { kind: 'header', length, address: size === 4 ? [...source].join('.') : ipv6(source) }
}

function ipv6(bytes: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index).toString(16))
  return groups.join(':')
}

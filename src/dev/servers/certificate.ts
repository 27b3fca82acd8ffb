// Makes a self-signed certificate for servers on this machine. Node makes keys but no certificates,
// so this file encodes the few fields. (RFC 5280, X.690)

import { createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { isIPv4 } from 'node:net'

export interface Certificate {
  /** The certificate in PEM. */
  readonly certificate: string
  /** The private key in PEM. */
  readonly key: string
}

const SEQUENCE = 0x30
const SET = 0x31
const INTEGER = 0x02
const BIT_STRING = 0x03
const OCTET_STRING = 0x04
const OBJECT_ID = 0x06
const UTF8_STRING = 0x0c
const UTC_TIME = 0x17
const VERSION = 0xa0
const EXTENSIONS = 0xa3
const DNS_NAME = 0x82
const IP_ADDRESS = 0x87

/** Encoded object ids: ecdsa-with-SHA256, commonName, subjectAltName, basicConstraints. */
const ECDSA_SHA256 = Buffer.from([0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2])
const COMMON_NAME = Buffer.from([0x55, 4, 3])
const ALTERNATIVE_NAMES = Buffer.from([0x55, 0x1d, 0x11])
const BASIC_CONSTRAINTS = Buffer.from([0x55, 0x1d, 0x13])
const TRUE = Buffer.from([1, 1, 0xff])
const VERSION_3 = Buffer.from([2, 1, 2])

/** Makes a certificate for host names and IPv4 addresses, valid from yesterday for `days`. */
export function selfSigned(
  names: readonly [string, ...string[]],
  { nowMs, days = 30 }: { readonly nowMs: number; readonly days?: number },
): Certificate {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const body = bodyOf(privateKey, names, [nowMs - DAY_MS, nowMs + days * DAY_MS])
  const signature = sign('sha256', body, privateKey)
  const whole = der(SEQUENCE, body, algorithm(), bits(signature))
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? []
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

const DAY_MS = 86_400_000

function bodyOf(
  key: KeyObject,
  names: readonly [string, ...string[]],
  [fromMs, toMs]: readonly [number, number],
): Buffer {
  const serial = randomBytes(16)
  serial[0] = 0x01 // A positive number without a leading zero.
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, id(COMMON_NAME), text(names[0]))))
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' })
  const alternatives = names.map((one) =>
    isIPv4(one)
      ? der(IP_ADDRESS, Buffer.from(one.split('.').map(Number)))
      : der(DNS_NAME, Buffer.from(one)),
  )
  const extensions = der(
    SEQUENCE,
    der(SEQUENCE, id(BASIC_CONSTRAINTS), TRUE, der(OCTET_STRING, der(SEQUENCE, TRUE))),
    der(SEQUENCE, id(ALTERNATIVE_NAMES), der(OCTET_STRING, der(SEQUENCE, ...alternatives))),
  )
  return der(
    SEQUENCE,
    der(VERSION, VERSION_3),
    der(INTEGER, serial),
    algorithm(),
    name,
    der(SEQUENCE, time(fromMs), time(toMs)),
    name,
    publicKey,
    der(EXTENSIONS, extensions),
  )
}

function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  const { length } = content
  const size = length < 128 ? [length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const id = (encoded: Buffer): Buffer => der(OBJECT_ID, encoded)
const algorithm = (): Buffer => der(SEQUENCE, id(ECDSA_SHA256))
const text = (value: string): Buffer => der(UTF8_STRING, Buffer.from(value))
const bits = (value: Buffer): Buffer => der(BIT_STRING, Buffer.from([0]), value)

/** Encodes YYMMDDHHMMSSZ, a format for years before 2050. */
function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replaceAll(/\D/g, '').slice(2, 14)
  return der(UTC_TIME, Buffer.from(`${digits}Z`))
}

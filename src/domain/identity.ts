// Identifiers: checked strings. (Specification: Identifiers, Channel.)
//
// Only the function that checks a string gives its branded type; no other code checks again.

declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

/** 26 upper-case Crockford Base32 characters that hold 128 bits. */
export type ChannelId = Branded<'ChannelId'>
/** 1-64 of letters, digits, `_ : -`; gateway-made ones are 32 lower-case hex characters. */
export type ThingId = Branded<'ThingId'>
export type EventId = Branded<'EventId'>
/** A rule of a channel, in the form of entity ids. */
export type RuleId = Branded<'RuleId'>
/** 32 lower-case hex characters, always made by the gateway. */
export type MessageId = Branded<'MessageId'>
/** 1-128 of letters, digits, `_ : -`. */
export type OperationId = Branded<'OperationId'>
/** 32 lower-case hex characters, made by the gateway: a device's one credential, a secret. */
export type DeviceKey = Branded<'DeviceKey'>
/** SHA-256 of a device key in hex: what is stored and compared. */
export type DeviceId = Branded<'DeviceId'>

export type EntityId = ThingId | EventId | MessageId | RuleId

const ENTITY_ID = /^[A-Za-z0-9_:-]{1,64}$/
const OPERATION_ID = /^[A-Za-z0-9_:-]{1,128}$/
const HEX_32 = /^[0-9a-f]{32}$/
const HEX_64 = /^[0-9a-f]{64}$/

const parser =
  <Id extends string>(pattern: RegExp) =>
  (input: string): Id | undefined =>
    pattern.test(input) ? (input as Id) : undefined

export const parseThingId = parser<ThingId>(ENTITY_ID)
export const parseEventId = parser<EventId>(ENTITY_ID)
export const parseRuleId = parser<RuleId>(ENTITY_ID)
export const parseMessageId = parser<MessageId>(HEX_32)
export const parseOperationId = parser<OperationId>(OPERATION_ID)
export const parseDeviceKey = parser<DeviceKey>(HEX_32)
export const parseDeviceId = parser<DeviceId>(HEX_64)

const CANONICAL_CHANNEL_ID = /^[0-9A-HJKMNP-TV-Z]{25}[048CGMRW]$/
const NOISE = /[\s-]+/g

/**
 * A channel id in any spelling that the specification allows (case, hyphens, ASCII white space, O
 * for 0, I and L for 1), made canonical; undefined when it is none. The two spare bits of the last
 * character must be zero, so one channel has one canonical spelling.
 */
export function parseChannelId(input: string): ChannelId | undefined {
  if (CANONICAL_CHANNEL_ID.test(input)) return input as ChannelId
  if (input.length > 256 || /[^\x00-\x7f]/.test(input)) return undefined
  const canonical = input.replace(NOISE, '').toUpperCase().replace(/O/g, '0').replace(/[IL]/g, '1')
  return CANONICAL_CHANNEL_ID.test(canonical) ? (canonical as ChannelId) : undefined
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** The canonical spelling of 16 bytes. */
export function channelIdFromBytes(bytes: Uint8Array): ChannelId {
  let text = ''
  let bits = 0
  let held = 0
  for (const byte of bytes.subarray(0, 16)) {
    held = (held << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += CROCKFORD.charAt((held >> bits) & 31)
    }
    held &= (1 << bits) - 1
  }
  return (text + CROCKFORD.charAt((held << (5 - bits)) & 31)) as ChannelId
}

/**
 * An operation id as the gateway makes it: 13 hex digits of milliseconds, a hyphen, 32 random hex
 * digits.
 */
export function operationIdFrom(nowMs: number, random32Hex: string): OperationId {
  return (timeText(nowMs) + random32Hex) as OperationId
}

/** True when an operation id has the form that the gateway makes; a client may have chosen it. */
export const isGatewayForm = (opId: OperationId): boolean => GATEWAY_OPERATION_ID.test(opId)

const GATEWAY_OPERATION_ID = /^[0-9a-f]{13}-[0-9a-f]{32}$/

/** The text before every operation id that the gateway makes at or after this time. */
export const operationsFrom = (ms: number): string => timeText(ms)

/** The time with which an operation id begins, when it has the form that the gateway makes. */
export function operationTimeOf(opId: string): number | undefined {
  return OPERATION_TIME.test(opId) ? Number.parseInt(opId, 16) : undefined
}

/** True when `operationTimeOf` gives this time; cheaper when many ids share one. */
export function isOperationOf(opId: OperationId, ms: number): boolean {
  return opId.startsWith(timeText(ms))
}

const OPERATION_TIME = /^[0-9a-f]{13}-/

// The last written time: many operations share a millisecond, and writing it is most of the cost of
// an id.
let writtenMs = 0
let written = writeMs(0)

function timeText(ms: number): string {
  if (ms !== writtenMs) {
    writtenMs = ms
    written = writeMs(ms)
  }
  return written
}

function writeMs(ms: number): string {
  return `${ms.toString(16).padStart(13, '0')}-`
}

/** The lane of a channel, by the hash of its canonical id: the same on every node and version. */
export const laneOf = (channelId: ChannelId, lanes: number): number => hashOf(channelId) % lanes

/** FNV-1a: 32 bits, which whoever chooses texts can make equal. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0
}

/** A channel key: 43 letters and digits. A password may look the same. (decisions.md 12) */
export const KEY_FORM = '[0-9A-Za-z]{43}'
const KEY = new RegExp(`^${KEY_FORM}$`)
const KEY_CHARACTERS = 43

/** True for a text that may be a channel key, between optional white space. */
export const isKeyForm = (sent: string): boolean =>
  sent.length >= KEY_CHARACTERS && KEY.test(sent.trim())

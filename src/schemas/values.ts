// Readers of single values: they trim, check and normalise. (decisions.md 3)

import { fault, isFault } from '#domain/fault'
import type { Fault, FaultCode } from '#domain/fault'
import { parseChannelId, parseOperationId, parseThingId } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { isSafeText, UNSAFE_RULE } from '#domain/record'
import { KEY_ID_FORM, exactly } from './patterns.ts'

export const PASSWORD_BYTES_MIN = 8
export const PASSWORD_BYTES_MAX = 128

/** The last millisecond of the year 9999. */
const TIME_MAX_MS = 253_402_300_799_999
/** Times below this are seconds. */
const MILLISECONDS_FROM = 1_000_000_000_000
const NUMERIC = /^[+-]?\d+(\.\d+)?$/

export type SentText = string | null | undefined
export type SentTime = number | string | null | undefined

/** The refusal of a field's value; `rule` completes "<field> …". */
export const invalid = (field: string, rule: string): Fault =>
  fault('validation_failed', { field, detail: `${field} ${rule}` })

/** The refusal of what is no object where one must be. */
export const noObject = (field: string): Fault =>
  fault('invalid_json_data', { field, detail: `${field} must be an object` })

/** Reads each item of a list; the refusal is about the first wrong one, as `mappings[1]`. */
export function readEach<Item>(
  field: string,
  sent: readonly unknown[],
  read: (item: unknown, field: string) => Answer<Item>,
): Answer<readonly Item[]> {
  const items: Item[] = []
  for (const [index, one] of sent.entries()) {
    const item = read(one, `${field}[${index}]`)
    if (isFault(item)) return item
    items.push(item)
  }
  return items
}

/** The items of a kept list, without those that this version cannot read. */
export const readableIn = <Item>(
  kept: unknown,
  read: (item: unknown, field: string) => Answer<Item>,
): readonly Item[] =>
  Array.isArray(kept)
    ? kept.flatMap((one) => {
        const item = read(one, '')
        return isFault(item) ? [] : [item]
      })
    : []

const HEX_ID = new RegExp(exactly(KEY_ID_FORM))

/** Reads an id of 32 hexadecimal digits, as those of keys and subscribers are. */
export function readHexId(sent: string, field: string): Answer<string> {
  const id = sent.trim()
  return HEX_ID.test(id) ? id : invalid(field, 'must be 32 digits and letters a to f')
}

/** True when the text takes more bytes than that in UTF-8. */
export function isLonger(text: string, bytesMax: number): boolean {
  if (text.length > bytesMax) return true
  return text.length * 3 > bytesMax && utf8Bytes(text) > bytesMax
}

/** The bytes of a well-formed text in UTF-8. */
export function utf8Bytes(text: string): number {
  let bytes = text.length
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) continue
    // Each half of a surrogate pair counts two, so that the pair counts four.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2
  }
  return bytes
}

export const isSent = (value: unknown): boolean => value !== undefined && value !== null

export const isBlank = (sent: SentText): boolean => (sent?.trim() ?? '') === ''

/** Trimmed text; undefined when it is absent, null or blank. */
export function readText(field: string, sent: SentText): Answer<string | undefined> {
  if (sent === undefined || sent === null) return undefined
  const text = sent.trim()
  if (text === '') return undefined
  return isSafeText(text) ? text : invalid(field, UNSAFE_RULE)
}

/** An optional value in the form that `parse` knows; undefined when it is absent or blank. */
export function readParsed<Value>(
  field: string,
  sent: SentText,
  form: { readonly parse: (text: string) => Value | undefined; readonly rule: string },
): Answer<Value | undefined> {
  const text = sent?.trim() ?? ''
  if (text === '') return undefined
  return form.parse(text) ?? invalid(field, form.rule)
}

export const ENTITY_ID_RULE = 'must be 1 to 64 letters, digits, _, : or -'
export const OPERATION_ID_RULE = 'must be 1 to 128 letters, digits, _, : or -'
/** The form of every entity's id, whatever its model. */
export const ENTITY_ID = { parse: parseThingId, rule: ENTITY_ID_RULE }
export const OPERATION_ID = { parse: parseOperationId, rule: OPERATION_ID_RULE }

export function readChannelId(sent: SentText): Answer<ChannelId> {
  const field = 'channel_id'
  if (sent === undefined || sent === null || isBlank(sent)) {
    return fault('channel_id_required', { field })
  }
  return parseChannelId(sent) ?? fault('invalid_channel_id', { field })
}

/** A channel password: trimmed first, then 8 to 128 bytes. */
export function readPassword(sent: SentText, field = 'password'): Answer<string> {
  const password = sent?.trim() ?? ''
  if (password === '') return fault('password_required', { field })
  const isTooShort =
    password.length < PASSWORD_BYTES_MIN && utf8Bytes(password) < PASSWORD_BYTES_MIN
  if (isTooShort || isLonger(password, PASSWORD_BYTES_MAX) || !isSafeText(password)) {
    return fault('invalid_password', { field })
  }
  return password
}

export interface Credentials {
  readonly channelId: ChannelId
  readonly password: string
}

/** channel_id and password, in this order. */
export function readCredentials(body: {
  readonly channel_id?: SentText
  readonly password?: SentText
}): Answer<Credentials> {
  const channelId = readChannelId(body.channel_id)
  if (typeof channelId !== 'string') return channelId
  const password = readPassword(body.password)
  return typeof password === 'string' ? { channelId, password } : password
}

/** The text of the UTC day of a time: 2026-01-31. */
export const dayText = (unixMs: number): string => new Date(unixMs).toISOString().slice(0, 10)

/** True when a time is absent: left out, null, or a blank text. */
export const isTimeAbsent = (sent: SentTime): boolean => typeof sent !== 'number' && isBlank(sent)

/**
 * Unix milliseconds of a time in seconds or milliseconds; undefined when it is absent. A text must
 * be a plain decimal number: no exponent, no hexadecimal.
 */
export function readTime(field: string, sent: SentTime): Answer<number | undefined> {
  if (sent === undefined || sent === null) return undefined
  let value = sent
  if (typeof value === 'string') {
    const text = value.trim()
    if (text === '') return undefined
    if (!NUMERIC.test(text)) return fault('invalid_timestamp', { field })
    value = Number(text)
  }
  const time = toMilliseconds(value)
  return time >= 0 && time <= TIME_MAX_MS ? time : fault('invalid_timestamp', { field })
}

/** The end of a stretch of time, which begins earlier where its `from` is there. */
export function readTo(
  sent: SentTime,
  field: string,
  { from: sentFrom }: { readonly from?: SentTime },
): Answer<number | undefined> {
  const to = readTime(field, sent)
  const from = readTime('from', sentFrom)
  const isEarlier = typeof to === 'number' && typeof from === 'number' && to <= from
  return isEarlier ? invalid('from', 'must be earlier than to') : to
}

/** The time of a submission, which must be there; `missing` is the code for a blank one. */
export function readRequiredTime(
  field: string,
  sent: number | string,
  missing: FaultCode,
): Answer<number> {
  return readTime(field, sent) ?? fault(missing, { field })
}

/**
 * Floored to the millisecond; below zero or NaN for what is no time. The sum with 0 turns -0 into
 * 0.
 */
function toMilliseconds(value: number): number {
  if (value < 0) return -1
  if (value >= MILLISECONDS_FROM) return Math.floor(value)
  if (Number.isInteger(value)) return value * 1000 + 0
  // Shifting the decimal text is exact where a product is not: 1700000000.123 * 1000 ends in 122.
  return value < 0.001 ? 0 : Math.floor(Number(`${value}e3`))
}

/** A whole number from 0, as a number or a numeric text; undefined for anything else. */
export function readWhole(sent: number | string): number | undefined {
  const value = typeof sent === 'string' && !NUMERIC.test(sent.trim()) ? NaN : Number(sent)
  return Number.isSafeInteger(value) && value >= 0 ? value + 0 : undefined
}

/** 1 to `max`, as a number or a numeric text; the fallback when absent. */
export function readLimit(
  sent: SentTime,
  { max, fallback }: { readonly max: number; readonly fallback: number },
): Answer<number> {
  if (sent === undefined || sent === null || isTimeAbsent(sent)) return fallback
  const limit = readWhole(sent) ?? 0
  return limit >= 1 && limit <= max
    ? limit
    : invalid('limit', `must be a whole number from 1 to ${max}`)
}

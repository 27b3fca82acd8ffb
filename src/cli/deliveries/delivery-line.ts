// Writes a delivery as one line for people: time, channel, model, action, id or title, changes.

import type { Fields, Json } from '#domain/submission'
import { isRecord, jsonOf } from '#domain/record'
import type { Delivery } from '#src/schemas/frames'
import { onOneLine, shortened } from '#src/cli/terminal-text'

/** The text of a time in Unix milliseconds. */
export type Clock = (unixMs: number) => string

/**
 * The time of day on a screen that is looked at now, in a time zone, an IANA name; absent: that of
 * this computer. Callers keep it, since making one is expensive.
 */
export function clockIn(timeZone?: string): Clock {
  const format = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone })
  return (unixMs) => format.format(unixMs)
}

export interface LineOptions {
  /** Absent: the line does not name the channel. */
  readonly channelName?: string
  readonly clock: Clock
  /** The decrypted ciphertext of the delivery. */
  readonly plaintext?: string
  /** Characters beyond which the line is cut. Absent: no limit. */
  readonly width?: number
}

const CHANNEL_WIDTH = 16
const VALUE_WIDTH = 60

/** The line, without its end. It holds no control characters. */
export function deliveryLine(delivery: Delivery, options: LineOptions): string {
  const { channelName, clock, width, plaintext } = options
  const line = [
    clock(delivery.acceptedAt),
    ...(channelName === undefined
      ? []
      : [shortened(onOneLine(channelName), CHANNEL_WIDTH).padEnd(CHANNEL_WIDTH)]),
    delivery.model.padEnd('message'.length),
    delivery.action.padEnd('archive'.length),
    entryText(delivery, plaintext),
  ].join('  ')
  return width === undefined ? line : shortened(line, width)
}

const COLORS: Readonly<Record<string, string>> = { critical: '1;31', high: '33', low: '2' }

/** The line in the colour of the severity: critical red, high yellow, low dim. */
export function coloured({ payload }: Delivery, line: string): string {
  const severity = textIn(payload, 'severity').toLowerCase()
  const color = Object.hasOwn(COLORS, severity) ? COLORS[severity] : undefined
  return color === undefined ? line : `\u001b[${color}m${line}\u001b[0m`
}

/**
 * The title of a Message, or the id and given title of a Thing or Event; then the changes, and the
 * decrypted ciphertext.
 */
export const entryText = (delivery: Delivery, plaintext: string | undefined): string =>
  [...subjectOf(delivery), ...(plaintext === undefined ? [] : [pair('plaintext', plaintext)])].join(
    '  ',
  )

function subjectOf({ model, entityId, payload }: Delivery): readonly string[] {
  const title = textIn(payload, 'title')
  if (model === 'message') return [title, ...changes(payload, MESSAGE_NAMES)]
  const name = title === '' ? entityId : `${entityId} ${JSON.stringify(title)}`
  const cleared = payload['title'] === '' ? [pair('title', '')] : []
  return [name, ...cleared, ...changes(payload, ENTITY_NAMES), ...pairsIn(payload['attrs'])]
}

const MESSAGE_NAMES = ['severity', 'body', 'thing_id', 'url', 'tags', 'ciphertext']
const ENTITY_NAMES = [
  'status',
  'severity',
  'message',
  'thing_id',
  'description',
  'tags',
  'location_value',
  'ciphertext',
]

function changes(payload: Fields, names: readonly string[]): readonly string[] {
  return names.flatMap((name) => {
    const value = payload[name] ?? null
    if (value === null || (name === 'severity' && value === 'normal')) return []
    // The content is encrypted, so a line can only say that it is there.
    return name === 'ciphertext' && value !== '' ? ['(encrypted)'] : [pair(name, value)]
  })
}

/** `key=value` for each attr, `-key` for a removed one. */
export function pairsIn(attrs: Json | undefined): readonly string[] {
  return Object.entries(fieldsIn(attrs)).map(([key, value]) =>
    value === null ? `-${onOneLine(key)}` : pair(key, value),
  )
}

/** The members of a JSON object; none of anything else. */
export const fieldsIn = (value: Json | undefined): Fields => (isRecord(value) ? value : {})

const pair = (key: string, value: Json): string => `${onOneLine(key)}=${valueText(value)}`

function valueText(value: Json): string {
  if (typeof value !== 'string') return shortened(onOneLine(JSON.stringify(value)), VALUE_WIDTH)
  const text = shortened(onOneLine(value), VALUE_WIDTH)
  return /^[^\s"=]+$/.test(text) && jsonOf(text) === undefined ? text : JSON.stringify(text)
}

const textIn = (payload: Fields, name: string): string => {
  const value = payload[name]
  return typeof value === 'string' ? onOneLine(value) : ''
}

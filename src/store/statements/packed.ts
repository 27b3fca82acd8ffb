// Packs text as bytes, compressed where that pays.
//
// Deflate is in every Node that runs the gateway; zstd is not, and packs an update into 25 bytes
// where deflate takes 27.

import { deflateRawSync, inflateRawSync } from 'node:zlib'

import { StoreDefect } from '#src/store/store-error'

/** The first byte. */
const FORM = { plain: 0, deflated: 1 } as const
/** Bytes of text from which on compressing them gains more than a handful. */
const DEFLATED_BYTES_MIN = 256
/** Level 6 takes a fifth off the size for three times the time. */
const LEVEL = 3

/** A text as bytes. */
export function pack(text: string): Buffer {
  const bytes = Buffer.from(text)
  const isLong = bytes.length >= DEFLATED_BYTES_MIN
  const form = Buffer.of(isLong ? FORM.deflated : FORM.plain)
  return Buffer.concat([form, isLong ? deflateRawSync(bytes, { level: LEVEL }) : bytes])
}

/** The text of bytes that `pack` made. Throws StoreDefect for others. */
export function unpack(bytes: Uint8Array): string {
  const packed = bytes.subarray(1)
  if (bytes[0] === FORM.plain) return Buffer.from(packed).toString()
  try {
    return inflateRawSync(packed).toString()
  } catch {
    throw new StoreDefect('damaged', 'a packed row is damaged')
  }
}

/** A member of a column of a packed row. Throws StoreDefect when the row has none. */
export function memberAt<Member>(column: readonly Member[], index: number): Member {
  const member = column[index]
  if (member === undefined) throw new StoreDefect('damaged', 'a packed row is damaged')
  return member
}

// Packs text as bytes, compressed where that pays.
//
// Deflate is in every Node that runs the gateway; zstd is not. In a block of 128 an update takes 25
// bytes with zstd, and with deflate 33 at level 1 and 27 at level 6.

import { deflateRawSync, inflateRawSync } from 'node:zlib'

import { StoreDefect } from '#src/store/store-error'

/** The first byte. */
const FORM = { plain: 0, deflated: 1 } as const
/** Bytes of text from which on compressing them gains more than a handful. */
const DEFLATED_BYTES_MIN = 256
/** Between those: the thread that packs has turns to write as well. */
const LEVEL = 3

/** A text as bytes; compressed from so many of them on. */
export function pack(text: string, bytesMin = DEFLATED_BYTES_MIN): Buffer {
  const bytes = Buffer.from(text)
  const isLong = bytes.length >= bytesMin
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

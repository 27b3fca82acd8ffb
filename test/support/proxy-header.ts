// PROXY headers of version 2, byte by byte.

/** The beginning of each header. */
export const V2 = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')

/** A header with this command, this family and these bytes. */
export function v2(command: number, family: number, rest: readonly number[]): Buffer {
  const head = Buffer.from([command, family, rest.length >> 8, rest.length & 255])
  return Buffer.concat([V2, head, Buffer.from(rest)])
}

// Decodes text in a header that is not ASCII: raw UTF-8, or `=?charset?B or Q?…?=` of RFC 2047.

const WORD = /=\?([^?\s]+)\?([BbQq])\?([^?\s]*)\?=/g
/** White space between two words is no part of the text. (RFC 2047, 6.2) */
const BETWEEN_WORDS = /(=\?[^?\s]+\?[BbQq]\?[^?\s]*\?=)[ \t\r\n]+(?==\?[^?\s]+\?[BbQq]\?)/g

const NOT_ASCII = /[\x80-\xff]/

/**
 * The text of a header, which the HTTP library gives with each byte as one character. An unreadable
 * word stays as it was sent.
 */
export function textOfHeader(header: string): string {
  const text = NOT_ASCII.test(header)
    ? (decode(Buffer.from(header, 'latin1'), 'utf-8') ?? header)
    : header
  if (!text.includes('=?')) return text
  return text
    .replace(BETWEEN_WORDS, '$1')
    .replace(WORD, (word: string, charset: string, encoding: string, sent: string) => {
      const bytes = encoding.toLowerCase() === 'b' ? Buffer.from(sent, 'base64') : quoted(sent)
      // RFC 2231, 5: a language may follow the charset.
      return decode(bytes, charset.split('*', 1)[0] ?? '') ?? word
    })
}

function quoted(text: string): Buffer {
  const latin1 = text
    .replaceAll('_', ' ')
    .replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
  return Buffer.from(latin1, 'latin1')
}

function decode(bytes: Uint8Array, charset: string): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes)
  } catch {
    return undefined // The charset is unknown, or the bytes are not valid in it.
  }
}

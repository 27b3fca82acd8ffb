// Documents that are kept compressed beside their plain form, so that an answer compresses nothing.

import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import * as zlib from 'node:zlib'

import type { Header } from '#src/http/reply'
import { IF_NONE_MATCH } from './answerer.ts'
import type { Document } from './answerer.ts'

/** The bytes of a document, and its compressed forms where there are some. */
export interface Forms {
  readonly bytes: Uint8Array
  readonly brotli: Uint8Array | undefined
  readonly gzip: Uint8Array | undefined
}

/** The header that says which codings a caller takes. */
export const ACCEPT_ENCODING = 'accept-encoding'

/** The headers that a row of variants wants. */
export const VARIANT_HEADERS = [IF_NONE_MATCH, ACCEPT_ENCODING] as const

interface Variant {
  /** undefined for the document as it is. */
  readonly encoding: 'br' | 'gzip' | undefined
  readonly document: Document
}

/** Brotli's ninth level is within a tenth of the smallest, and takes a twentieth of the time. */
const QUALITY = 9

const BROTLI = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: QUALITY } }

/**
 * The forms of a document that is made once, some hundreds of KB at most. Other threads compress:
 * it would hold requests up for 60 ms.
 */
export async function compressed(bytes: Uint8Array): Promise<Forms> {
  const [brotli, gzip] = await Promise.all([
    promisify(zlib.brotliCompress)(bytes, BROTLI),
    promisify(zlib.gzip)(bytes),
  ])
  return { bytes, brotli, gzip }
}

/** The forms of a document as answers, the smallest first. */
export type Variants = readonly Variant[]

export function variantsOf(
  { bytes, brotli, gzip }: Forms,
  { contentType, cache, headers }: Required<Pick<Document, 'contentType' | 'cache' | 'headers'>>,
): Variants {
  const digest = hash('sha256', bytes, 'base64url').slice(0, 22)
  const variant = (encoding: Variant['encoding'], body: Uint8Array | undefined): Variant[] => {
    if (body === undefined) return []
    const encoded: readonly Header[] =
      encoding === undefined ? [] : [['content-encoding', encoding]]
    const document: Document = {
      contentType,
      body,
      etag: `"${digest}${encoding === undefined ? '' : `-${encoding}`}"`,
      cache,
      headers: [['vary', ACCEPT_ENCODING], ...headers, ...encoded],
    }
    return [{ encoding, document }]
  }
  return [...variant('br', brotli), ...variant('gzip', gzip), ...variant(undefined, bytes)]
}

/** The smallest form that the headers of a request accept. */
export function chosen(variants: Variants, sent: Readonly<Record<string, string>>): Document {
  const accepted = codingsIn(sent[ACCEPT_ENCODING] ?? '')
  const found = variants.find(({ encoding }) => encoding === undefined || accepted.has(encoding))
  if (found === undefined) throw new Error('a document has no plain form')
  return found.document
}

/** The codings that a header accepts; one with the weight 0 is refused. (RFC 9110, 12.5.3) */
export const codingsIn = (acceptEncoding: string): ReadonlySet<string> =>
  new Set(
    acceptEncoding
      .toLowerCase()
      .split(',')
      .map((part) => part.split(';').map((piece) => piece.trim()))
      .filter(([, weight = '']) => !/^q=0(\.0*)?$/.test(weight))
      .map(([coding = '']) => coding),
  )

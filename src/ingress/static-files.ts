// Rows for files that a build has made: read once at the start, sent as they are compressed there.
//
// Invariants:
//   static-files/1. A row serves one file that was in the folder at the start; nothing of a request
//                   becomes part of a path on the disk.

import { hash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { extname, join } from 'node:path'

import type { Header } from '#src/http/reply'
import { DOCUMENT, IF_NONE_MATCH } from './answerer.ts'
import type { Document } from './answerer.ts'
import { get } from './row.ts'
import type { Row } from './row.ts'

/** The bytes of one file, as it is and as the build compressed it. */
export interface StaticFile {
  readonly name: string
  readonly bytes: Uint8Array
  readonly brotli: Uint8Array | undefined
  readonly gzip: Uint8Array | undefined
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
}

/**
 * Reads every file of a folder, with `<name>.br` and `<name>.gz` as its compressed forms. Undefined
 * where there is no such folder.
 */
export async function readStaticFiles(folder: string): Promise<readonly StaticFile[] | undefined> {
  const names = await readdir(folder).catch(undefinedIfMissing)
  if (names === undefined) return undefined
  const present = new Set(names)
  const read = async (name: string): Promise<Uint8Array | undefined> =>
    present.has(name) ? readFile(join(folder, name)) : undefined
  const served = names.filter((name) => Object.hasOwn(CONTENT_TYPES, extname(name)))
  return Promise.all(
    served.map(async (name) => ({
      name,
      bytes: await readFile(join(folder, name)),
      brotli: await read(`${name}.br`),
      gzip: await read(`${name}.gz`),
    })),
  )
}

function undefinedIfMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
  throw error
}

export interface StaticOptions {
  /** The path of the folder, with a slash at its end. It serves `index.html` itself. */
  readonly path: string
  /** The headers of every answer with a file. */
  readonly headersOf: (name: string) => readonly Header[]
}

/** A row for each file, without credentials: a browser has none when it asks for a page. */
export const staticRows = (
  files: readonly StaticFile[],
  { path, headersOf }: StaticOptions,
): readonly Row[] =>
  files.map((file) => {
    const variants = variantsOf(file, headersOf(file.name))
    return get(file.name === 'index.html' ? path : `${path}${file.name}`, {
      token: 'none',
      headers: [IF_NONE_MATCH, 'accept-encoding'],
      answerer: DOCUMENT,
      // static-files/1
      handle: ({ headers: sent }) => chosen(variants, sent['accept-encoding'] ?? ''),
    })
  })

interface Variant {
  /** undefined for the file as it is. */
  readonly encoding: 'br' | 'gzip' | undefined
  readonly document: Document
}

/** The build puts a hash of the content into the names of files that never change. */
const HASHED = /-[A-Z0-9]{8}\.\w+$/
const IMMUTABLE = 'public, max-age=31536000, immutable'
const REVALIDATED = 'no-cache'

/** The forms of a file, the smallest first. */
function variantsOf(file: StaticFile, headers: readonly Header[]): readonly Variant[] {
  const digest = hash('sha256', file.bytes, 'base64url').slice(0, 22)
  const variant = (encoding: Variant['encoding'], body: Uint8Array | undefined): Variant[] => {
    if (body === undefined) return []
    const encoded: readonly Header[] =
      encoding === undefined ? [] : [['content-encoding', encoding]]
    const document: Document = {
      contentType: CONTENT_TYPES[extname(file.name)] ?? '',
      body,
      etag: `"${digest}${encoding === undefined ? '' : `-${encoding}`}"`,
      cache: HASHED.test(file.name) ? IMMUTABLE : REVALIDATED,
      headers: [['vary', 'accept-encoding'], ...headers, ...encoded],
    }
    return [{ encoding, document }]
  }
  return [
    ...variant('br', file.brotli),
    ...variant('gzip', file.gzip),
    ...variant(undefined, file.bytes),
  ]
}

function chosen(variants: readonly Variant[], acceptEncoding: string): Document {
  const accepted = codingsIn(acceptEncoding)
  const found = variants.find(({ encoding }) => encoding === undefined || accepted.has(encoding))
  if (found === undefined) throw new Error('a file has no plain form')
  return found.document
}

/** The codings that a header accepts; one with the weight 0 is refused. (RFC 9110, 12.5.3) */
const codingsIn = (acceptEncoding: string): ReadonlySet<string> =>
  new Set(
    acceptEncoding
      .toLowerCase()
      .split(',')
      .map((part) => part.split(';').map((piece) => piece.trim()))
      .filter(([, weight = '']) => !/^q=0(\.0*)?$/.test(weight))
      .map(([coding = '']) => coding),
  )

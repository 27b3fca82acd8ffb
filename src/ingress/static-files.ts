// Rows for files that a build has made: read once at the start, sent as they are compressed there.
//
// Invariants:
//   static-files/1. A row serves one file that was in the folder at the start; nothing of a request
//                   becomes part of a path on the disk.

import { readFile, readdir } from 'node:fs/promises'
import { extname, join } from 'node:path'

import type { Header } from '#src/http/reply'
import { DOCUMENT } from './answerer.ts'
import { get } from './row.ts'
import type { Row } from './row.ts'
import { VARIANT_HEADERS, chosen, variantsOf } from './variants.ts'
import type { Forms, Variants } from './variants.ts'

/** The bytes of one file, as it is and as the build compressed it. */
export interface StaticFile extends Forms {
  readonly name: string
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

interface StaticOptions {
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
    const variants = formsOf(file, headersOf(file.name))
    return get(file.name === 'index.html' ? path : `${path}${file.name}`, {
      token: 'none',
      headers: VARIANT_HEADERS,
      answerer: DOCUMENT,
      // static-files/1
      handle: ({ headers: sent }) => chosen(variants, sent),
    })
  })

/** The build puts a hash of the content into the names of files that never change. */
const HASHED = /-[A-Z0-9]{8}\.\w+$/
const IMMUTABLE = 'public, max-age=31536000, immutable'
const REVALIDATED = 'no-cache'

/** The forms of a file. */
const formsOf = (file: StaticFile, headers: readonly Header[]): Variants =>
  variantsOf(file, {
    contentType: CONTENT_TYPES[extname(file.name)] ?? '',
    cache: HASHED.test(file.name) ? IMMUTABLE : REVALIDATED,
    headers,
  })

// Readers turn the body of a request into a value. Each has its own limit in bytes.

import { fault } from '#domain/fault'
import type { FaultCode } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import { tooLarge } from '#src/http/arriving-body'
import { readJson } from '#src/schemas/json/json'
import type { ObjectSchema } from '#src/schemas/json-schema'
import type { ReadOf } from '#src/schemas/members'
import { request } from '#src/schemas/shape'
import type { Exchange } from '#src/http/exchange'
import type { Head } from '#src/http/router'

export interface Reader<Body = unknown> {
  /** The most bytes of a body; 0 for no body. */
  readonly bytesMax: number
  /** True when handlers get the query. */
  readonly isQueryRead: boolean
  /** The accepted Content-Types; empty for any. */
  readonly mediaTypes: readonly string[]
  /** The codes with which it refuses a body, beside the codes for its size. */
  readonly codes: readonly FaultCode[]
  /** `bytes` live until this returns. */
  read(bytes: Uint8Array, contentType: string): Answer<Body> | Promise<Answer<Body>>
  /** Returns a body that is still arriving; then `read` is not called. */
  readonly open?: (head: Head, exchange: Exchange) => Answer<Body>
}

/** The limit of every body, unless its row says otherwise. (Specification: Limits) */
export const BODY_BYTES_MAX = 32_768

/** Reads neither body nor query. */
export const NOTHING: Reader<undefined> = {
  bytesMax: 0,
  isQueryRead: false,
  mediaTypes: [],
  codes: [],
  read: () => undefined,
}

/** The same reader, whose handlers get the query too. */
export const withQuery = <Body>(reader: Reader<Body>): Reader<Body> => ({
  ...reader,
  isQueryRead: true,
})

/** Reads the query and no body. */
export const QUERY: Reader<undefined> = withQuery(NOTHING)

/** The fields of a query by the schema of its parameters: of one that is no list the first one. */
export const fieldsIn = (query: URLSearchParams, { properties }: ObjectSchema): object =>
  Object.fromEntries(
    Object.entries(properties).map(([name, { type }]) => [
      name,
      [type].flat().includes('array') ? query.getAll(name) : (query.get(name) ?? undefined),
    ]),
  )

/** Makes the reader of a query by the schema of its parameters. The first refusal is the answer. */
export function queryReader<Schema extends ObjectSchema>(
  schema: Schema,
): (query: URLSearchParams) => Answer<ReadOf<Schema>> {
  const read = request(schema)
  return (query) => read(fieldsIn(query, schema))
}

const JSON_MEDIA_TYPE = /^application\/json[ \t]*(?:;|$)/i

/** Reads JSON in UTF-8 that says so. */
export const jsonBody = (bytesMax = BODY_BYTES_MAX): Reader => ({
  bytesMax,
  isQueryRead: false,
  mediaTypes: ['application/json'],
  codes: [
    'missing_json_content_type',
    'unsupported_media_type',
    'invalid_json_syntax',
    'invalid_json_data',
  ],
  read: (bytes, contentType) =>
    JSON_MEDIA_TYPE.test(contentType) ? readJson(bytes) : fault('missing_json_content_type'),
})

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Reads bytes, whatever their Content-Type says. */
export const bytesBody = (bytesMax: number): Reader<Uint8Array> => ({
  bytesMax,
  isQueryRead: false,
  mediaTypes: [],
  codes: [],
  read: (body) => Buffer.from(body),
})

/** The fields of a form; a file comes with its name and its bytes. */
export interface Form {
  readonly texts: URLSearchParams
  readonly files: readonly FormFile[]
}

interface FormFile {
  readonly field: string
  readonly fileName: string
  readonly contentType: string
  readonly bytes: Uint8Array
}

/** Reads `application/x-www-form-urlencoded` in UTF-8. */
export const formBody = (bytesMax = BODY_BYTES_MAX): Reader<Form> => ({
  bytesMax,
  isQueryRead: false,
  mediaTypes: ['application/x-www-form-urlencoded'],
  codes: ['unsupported_media_type', 'malformed_body'],
  read: (body, contentType) => {
    if (mediaTypeOf(contentType) !== 'application/x-www-form-urlencoded') return UNSUPPORTED
    try {
      return { texts: new URLSearchParams(utf8.decode(body)), files: [] }
    } catch {
      return fault('malformed_body', { detail: 'the form is not valid UTF-8' })
    }
  },
})

/** Reads `multipart/form-data`. */
export const multipartBody = (bytesMax = BODY_BYTES_MAX): Reader<Form> => ({
  bytesMax,
  isQueryRead: false,
  mediaTypes: ['multipart/form-data'],
  codes: ['unsupported_media_type', 'malformed_body'],
  read: (body, contentType) =>
    mediaTypeOf(contentType) === 'multipart/form-data'
      ? readMultipart(Buffer.from(body), contentType)
      : UNSUPPORTED,
})

/** Uses the parser of the runtime's fetch, which takes the whole, bounded body. */
async function readMultipart(body: Buffer, contentType: string): Promise<Answer<Form>> {
  const response = new Response(body, { headers: { 'content-type': contentType } })
  const data = await response.formData().catch(() => undefined)
  if (data === undefined) return fault('malformed_body', { detail: 'the form has no valid parts' })
  const texts = new URLSearchParams()
  const files: FormFile[] = []
  for (const [field, value] of data) {
    if (typeof value === 'string') texts.append(field, value)
    else {
      const bytes = new Uint8Array(await value.arrayBuffer())
      files.push({ field, fileName: value.name, contentType: value.type, bytes })
    }
  }
  return { texts, files }
}

const UNSUPPORTED = fault('unsupported_media_type')

const mediaTypeOf = (contentType: string): string =>
  (contentType.split(';', 1)[0] ?? '').trim().toLowerCase()

/** The refusal of a body by its head; `headers` are those that its handler reads itself. */
export function headRefusal(
  head: Head,
  bytesMax: number,
  headers: readonly string[],
): Fault | undefined {
  if (Number(head.header('content-length')) > bytesMax) return tooLarge(bytesMax)
  const encoding = head.header('content-encoding')
  const isPlain = encoding === '' || encoding.toLowerCase() === 'identity'
  return isPlain || headers.includes('content-encoding') ? undefined : ENCODED
}

const ENCODED = fault('unsupported_media_type', {
  detail: 'send the body as it is, without Content-Encoding',
})

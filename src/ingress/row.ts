// One row of the table of routes: all that the pipeline and the OpenAPI document need to know of a
// route.

import { fault } from '#domain/fault'
import type { FaultCode } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { Guard } from '#src/acceptance/caller-check'
import type { RouteDescription } from '#src/schemas/document/openapi'
import type { Answerer } from './answerer.ts'
import type { Head, RowMethod } from '#src/http/router'
import { NOTHING, jsonBody } from './reader.ts'
import type { Reader } from './reader.ts'
import type { Request } from './request.ts'
import { ACCEPT_ENCODING } from './variants.ts'

/** The description of a row; the codes that its checks can give are added. */
export type About = Omit<RouteDescription, 'method' | 'path' | 'codes' | 'mediaTypes'> & {
  readonly codes?: readonly FaultCode[]
}

export interface Row<Body = unknown, Data = unknown> {
  readonly methods: readonly RowMethod[]
  /** With `{name}` for each named part. */
  readonly path: string
  /** Other spellings of the path, with the same named parts; the document leaves them out. */
  readonly alsoAt?: readonly string[]
  /** Decodes a named part that is not plain percent-encoding; throws for a malformed one. */
  readonly decode?: (sent: string, name: string) => string
  /**
   * 'required' asks for the gateway token, if the gateway has one; 'proven' refuses without one.
   * With 'handler' another token may stand in its place: the handler judges it, and counts a
   * wrong one.
   */
  readonly token: Guard['token'] | 'handler'
  /**
   * Reads the gateway token from a place beside the Authorization header; gives '' when there is
   * none.
   */
  readonly tokenFrom?: (head: Head) => string
  /** The place of channel passwords; a request that can bring one counts in the password budget. */
  readonly credentials: 'body' | 'query' | 'path' | 'header' | 'none'
  /** Its GET asks for a WebSocket, in whose frames its answerer streams. */
  readonly isWebSocket?: true
  /** The row makes new devices, which count in a budget of their own. */
  readonly makesDevices?: true
  /** The headers that its handler or its answerer wants, in lower case. */
  readonly headers?: readonly string[]
  readonly reader: Reader<Body>
  /** Its answers may be compressed: none carries a credential. (compression/2) */
  readonly isCompressible?: true
  /** False for a GET that changes something: then there is no HEAD beside it. (RFC 9110, 9.2.1) */
  readonly isSafe: boolean
  readonly answerer: Answerer<Data>
  /** Absent on a row of another protocol, which describes itself: the document leaves it out. */
  readonly about?: About
  handle(request: Request<Body>): Answer<Data> | Promise<Answer<Data>>
}

/** The same rows, whose answers may be compressed. (compression/2) */
export const compressible = (rows: readonly Row[]): readonly Row[] =>
  rows.map((row) => ({
    ...row,
    isCompressible: true,
    headers: [...(row.headers ?? []), ACCEPT_ENCODING],
  }))

/** The spellings of a row's path. */
export const spellingsOf = ({ path, alsoAt = [] }: Row): readonly string[] => [path, ...alsoAt]

/** The path as the HTTP library takes it. */
export const patternOf = ({ path }: Row): string => path.replace(/\{(\w+)\}/g, ':$1')

/** The parts that a row cannot leave out, and any others. */
type RowParts<Body, Data> = Pick<Row<Body, Data>, 'handle' | 'answerer'> & Partial<Row<Body, Data>>

const DEFAULTS = { token: 'required', credentials: 'none' } as const

/** A row for GET. Unless it says otherwise it reads nothing and changes nothing. */
export const get = <Body, Data>(path: string, parts: RowParts<Body, Data>): Row => ({
  ...DEFAULTS,
  methods: ['GET'],
  path,
  reader: NOTHING,
  isSafe: true,
  ...parts,
})

/** A row for POST. Unless it says otherwise it reads JSON. */
export const post = <Body, Data>(path: string, parts: RowParts<Body, Data>): Row => ({
  ...DEFAULTS,
  methods: ['POST'],
  path,
  reader: JSON_BODY,
  isSafe: false,
  ...parts,
})

const JSON_BODY = jsonBody()

/** The guard that the check of callers applies to a row. */
export function guardOf({ token, credentials, makesDevices }: Row): Guard {
  if (token === 'handler') return { token: 'none', budget: 'guesses' }
  if (credentials !== 'none') return { token, budget: 'passwords' }
  return { token, budget: makesDevices === true ? 'devices' : 'none' }
}

/** The methods that a row answers, HEAD beside each safe GET. */
export const methodsOf = ({ methods, isSafe }: Row): readonly (RowMethod | 'HEAD')[] =>
  methods.flatMap((method) => (method === 'GET' && isSafe ? [method, 'HEAD'] : [method]))

/** Describes a row for the document: once for each of its methods. */
export function describe(row: Row): readonly RouteDescription[] {
  const { methods, path, reader, about } = row
  if (about === undefined) return []
  const codes = [...new Set<FaultCode>([...(about.codes ?? []), ...codesOfChecks(row)])]
  return methods.map((method) => ({
    ...about,
    method,
    path,
    mediaTypes: reader.mediaTypes,
    codes,
  }))
}

function codesOfChecks(row: Row): FaultCode[] {
  const { token, credentials, makesDevices, path, reader } = row
  const codes: FaultCode[] = ['server_busy', 'internal_error']
  if (row.isWebSocket === true) codes.push('websocket_upgrade_required')
  const isCounted = credentials !== 'none' || makesDevices === true
  const isAsked = token === 'required' || token === 'proven'
  if (isAsked) codes.push('authentication_failed')
  if (isAsked || isCounted) codes.push('rate_limited')
  if (reader.bytesMax > 0) codes.push('body_too_large', 'request_timeout', 'validation_failed')
  if (path.includes('{')) codes.push('validation_failed')
  return [...codes, ...reader.codes]
}

/** The named parts of a path, decoded as the row says. */
export function decodeParameters(
  { decode = decodeURIComponent }: Row,
  sent: Readonly<Record<string, string>>,
): Answer<Readonly<Record<string, string>>> {
  const parameters: Record<string, string> = {}
  for (const [name, value] of Object.entries(sent)) {
    try {
      parameters[name] = decode(value, name)
    } catch {
      // It only throws for a malformed escape.
      return fault('validation_failed', { field: name, detail: 'malformed percent-encoding' })
    }
  }
  return parameters
}

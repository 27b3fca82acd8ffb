// The one table of routes, from which the OpenAPI document is made. There are no others.

import { fault, isFault } from '#domain/fault'
import type { Acceptance } from '#src/acceptance/acceptance'
import { object, oneOf } from '#src/schemas/json-schema'
import { read } from '#src/schemas/members'
import { readParsed } from '#src/schemas/values'
import { asyncApiDocument } from '#src/schemas/document/asyncapi'
import { openApiDocument } from '#src/schemas/document/openapi'
import { DOCUMENT, ENVELOPE } from './answerer.ts'
import type { Document } from './answerer.ts'
import { consoleRows, frontRow } from './console-rows.ts'
import { nativeRows } from './native-rows.ts'
import { READINESS, readiness } from './probes.ts'
import type { ReadinessPorts } from './probes.ts'
import { JSON_TYPE, NO_HEADERS } from '#src/http/reply'
import { STATUS } from '#src/refusals/refusal'
import { QUERY, queryReader } from './reader.ts'
import { compressible, describe, get } from './row.ts'
import type { About, Row } from './row.ts'
import type { StaticFile } from './static-files.ts'
import { VARIANT_HEADERS, chosen, compressed, variantsOf } from './variants.ts'
import type { Variants } from './variants.ts'

export interface TablePorts extends ObservationPorts {
  readonly acceptance: Acceptance
  readonly version: string
  /** The files of the console; absent for a gateway without one. */
  readonly console?: readonly StaticFile[] | undefined
}

export interface ObservationPorts extends ReadinessPorts {
  /** The data of GET /gateway/profile. */
  readonly profile: () => object
  /** Prometheus text. */
  readonly metricsText: () => Promise<string>
}

/** The table of a gateway, with further rows that the document tells too. */
export function routeTable(ports: TablePorts, more: readonly Row[] = []): readonly Row[] {
  const native: readonly Row[] = [
    ...nativeRows(ports.acceptance),
    ...firstRows(ports),
    ...observationTable(ports),
    get('/private/ws', {
      token: 'none',
      // Reached only without an upgrade: a carrier mounts the WebSocket itself.
      handle: () => fault('websocket_upgrade_required'),
      answerer: ENVELOPE,
      about: about('Open a device session over WebSocket', {
        upgradesTo: 'WebSocket with the subprotocol heliograph.v1',
        codes: ['websocket_upgrade_required', 'missing_websocket_subprotocol'],
      }),
    }),
    asyncApiRow(ports.version),
  ]
  const documentRow = openApiRow(() => [...native, documentRow], more, ports.version)
  return [...native, ...more, documentRow]
}

/** The row of `/`, and the console where there is one. */
function firstRows({ version, acceptance, console: files }: TablePorts): readonly Row[] {
  const data = (): object => ({ name: 'heliograph', version, openapi: '/openapi.json' })
  const front = about('Get the name and the version of the gateway', { operation: 'getVersion' })
  if (files === undefined) return [get('/', { handle: data, answerer: ENVELOPE, about: front })]
  const { callerCheck } = acceptance
  return [frontRow({ callerCheck, about: front, data }), ...consoleRows(files)]
}

const about = (summary: string, more: Partial<About> = {}): About => ({
  tag: 'Gateway',
  summary,
  ...more,
})

/** The routes of a process that takes no requests of clients. */
export function observationTable(ports: ObservationPorts): readonly Row[] {
  const ask = readiness(ports)
  return [
    get('/healthz', {
      handle: () => ({ status: 'ok' }),
      answerer: ENVELOPE,
      about: about('Check that the process is alive', { operation: 'checkLiveness' }),
    }),
    get('/readyz', {
      handle: ({ refusal }) => ask(refusal !== undefined),
      answerer: READINESS,
      about: about('Check that the gateway and its dependencies are ready', {
        operation: 'checkReadiness',
      }),
    }),
    get('/gateway/profile', {
      handle: () => ports.profile(),
      answerer: ENVELOPE,
      about: about('Get the data that devices need to connect', { operation: 'getProfile' }),
    }),
    ...compressible([
      get('/metrics', {
        handle: async () => ({ contentType: PROMETHEUS_TYPE, body: await ports.metricsText() }),
        answerer: DOCUMENT,
        about: about('Read the metrics as Prometheus text', {
          operation: 'getMetrics',
          raw: { mediaType: 'text/plain', schema: { type: 'string' } },
        }),
      }),
    ]),
  ]
}

const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

const STYLES = { parse: (text: string) => text === '1' || undefined, rule: 'must be 1' }

/** The query with which the document has the routes of other tools, too. */
const STYLES_QUERY = object(
  {
    styles: read(
      oneOf(['1'], 'Adds the routes of imitated tools and of browsers.'),
      (sent, field) => readParsed(field, sent, STYLES),
    ),
  },
  [],
)
const readStyles = queryReader(STYLES_QUERY)

type Chosen = (headers: Readonly<Record<string, string>>) => Promise<Document>

/** A document that is made and compressed once, at the first request for it. */
function madeOnce(make: () => object): Chosen {
  let made: Promise<Variants> | undefined
  return async (headers) => chosen(await (made ??= variantsOfData(make())), headers)
}

const variantsOfData = async (data: object): Promise<Variants> =>
  variantsOf(await compressed(Buffer.from(JSON.stringify(data))), {
    contentType: JSON_TYPE,
    cache: 'no-cache',
    headers: NO_HEADERS,
  })

const RAW_JSON = { mediaType: 'application/json', schema: { type: 'object' } } as const

/** The document of these rows, and the one that has `more`, too. */
function openApiRow(table: () => readonly Row[], more: readonly Row[], version: string): Row {
  const made = (rows: () => readonly Row[]) =>
    madeOnce(() => openApiDocument({ routes: rows().flatMap(describe), version, statusOf: STATUS }))
  const native = made(table)
  const whole = made(() => [...table(), ...more])
  return get('/openapi.json', {
    headers: VARIANT_HEADERS,
    reader: QUERY,
    handle: ({ query, headers }) => {
      const wish = readStyles(query)
      return isFault(wish) ? wish : (wish.styles === true ? whole : native)(headers)
    },
    answerer: DOCUMENT,
    about: about('Get this document', {
      operation: 'getDocument',
      query: STYLES_QUERY,
      codes: ['validation_failed'],
      raw: RAW_JSON,
    }),
  })
}

function asyncApiRow(version: string): Row {
  const document = madeOnce(() => asyncApiDocument(version))
  return get('/asyncapi.json', {
    headers: VARIANT_HEADERS,
    handle: ({ headers }) => document(headers),
    answerer: DOCUMENT,
    about: about('Get the AsyncAPI document of device sessions', {
      operation: 'getSessionDocument',
      raw: RAW_JSON,
    }),
  })
}

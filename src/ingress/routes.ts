// The one table of routes, from which the OpenAPI document is made. There are no others.

import { hash } from 'node:crypto'
import { fault } from '#domain/fault'
import { openApiDocument } from '#src/schemas/document/openapi'
import { DOCUMENT, ENVELOPE, IF_NONE_MATCH } from './answerer.ts'
import type { Document } from './answerer.ts'
import { consoleRows, frontRow } from './console-rows.ts'
import { nativeRows } from './native-rows.ts'
import type { NativePorts } from './native-rows.ts'
import { READINESS, readiness } from './probes.ts'
import type { ReadinessPorts } from './probes.ts'
import { JSON_TYPE } from '#src/http/reply'
import { STATUS } from '#src/refusals/refusal'
import { describe, get } from './row.ts'
import type { About, Row } from './row.ts'
import type { StaticFile } from './static-files.ts'

export interface TablePorts extends ObservationPorts, NativePorts {
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
  const rows: Row[] = [
    ...nativeRows(ports),
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
    ...more,
  ]
  const whole = (): readonly Row[] => [...rows, documentRow]
  const documentRow = openApiRow(whole, ports.version)
  return whole()
}

/** The row of `/`, and the console where there is one. */
function firstRows({ version, acceptance, console: files }: TablePorts): readonly Row[] {
  const data = (): object => ({ name: 'heliograph', version, openapi: '/openapi.json' })
  const front = about('Get the name and the version of the gateway')
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
      about: about('Check that the process is alive'),
    }),
    get('/readyz', {
      handle: ({ refusal }) => ask(refusal !== undefined),
      answerer: READINESS,
      about: about('Check that the gateway and its dependencies are ready'),
    }),
    get('/gateway/profile', {
      handle: () => ports.profile(),
      answerer: ENVELOPE,
      about: about('Get the data that devices need to connect'),
    }),
    get('/metrics', {
      handle: async () => ({ contentType: PROMETHEUS_TYPE, body: await ports.metricsText() }),
      answerer: DOCUMENT,
      about: about('Read the metrics as Prometheus text', {
        raw: { mediaType: 'text/plain', schema: { type: 'string' } },
      }),
    }),
  ]
}

const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Makes the document once, at the first request for it. */
function openApiRow(table: () => readonly Row[], version: string): Row {
  let made: Document | undefined
  const make = (): Document => {
    const routes = table().flatMap(describe)
    const body = Buffer.from(JSON.stringify(openApiDocument({ routes, version, statusOf: STATUS })))
    const etag = `"${hash('sha256', body, 'base64url')}"`
    return { contentType: JSON_TYPE, body, etag, cache: 'no-cache' }
  }
  return get('/openapi.json', {
    headers: [IF_NONE_MATCH],
    handle: () => (made ??= make()),
    answerer: DOCUMENT,
    about: about('Get this document', {
      raw: { mediaType: 'application/json', schema: { type: 'object' } },
    }),
  })
}

// The native routes: each joins a declared route (src/schemas) with the call of the acceptance
// stage behind it.

import { isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import { EVENT_ACTIONS, RULE_ACTIONS, THING_ACTIONS } from '#domain/submission'
import type { Acceptance } from '#src/acceptance/acceptance'
import type { Caller } from '#src/acceptance/caller'
import type { TextStream } from '#src/acceptance/history/exports'
import type { Intent } from '#src/acceptance/intent'
import { JSON_TYPE } from '#src/http/reply'
import type { DataOf } from '#src/schemas/members'
import { object } from '#src/schemas/json-schema'
import { messageBodyFromQuery } from '#src/schemas/message'
import * as ROUTES from '#src/schemas/resources'
import type { Route } from '#src/schemas/route'
import { DOCUMENT, STREAM, envelope, enveloped } from './answerer.ts'
import { channelMetricsRow } from './channel-metrics-row.ts'
import { jsonInParts } from './json-parts.ts'
import { QUERY, fieldsIn, jsonBody } from './reader.ts'
import type { Request } from './request.ts'
import { compressible, get, post } from './row.ts'
import type { Row } from './row.ts'

export const nativeRows = (acceptance: Acceptance): readonly Row[] => [
  ...submissionRows(acceptance),
  ...rowsOf(ROUTES.CANCELLATION, acceptance.cancellations),
  ...rowsOf(ROUTES.DEVICE, acceptance.devices),
  ...rowsOf(ROUTES.CHANNEL, acceptance.channels),
  ...rowsOf(ROUTES.SUBSCRIPTION, acceptance.subscriptions),
  ...rowsOf(ROUTES.SUBSCRIBER, acceptance.subscribers),
  ...rowsOf(ROUTES.MAPPINGS, acceptance.mappings),
  ...rowsOf(ROUTES.PRESENTATION, acceptance.presentation),
  ...rowsOf(ROUTES.HOOKS, acceptance.hooks),
  ...rowsOf(ROUTES.KEY, acceptance.keys),
  ...compressible(readingRows(acceptance)),
  ...rowsOf(ROUTES.REFUSALS, acceptance.refusals),
  ...RULE_ACTIONS.map((action) =>
    submittingRow(acceptance, ROUTES.RULE_CHANGE[action], { model: 'rule', action }),
  ),
  ...rowsOf(ROUTES.DEAD_LETTERS, acceptance.deadLetters),
]

/** The rows that give what a channel has; none of their answers carries a credential. */
const readingRows = (acceptance: Acceptance): readonly Row[] => [
  ...rowsOf(ROUTES.STATE, acceptance.state),
  seriesRow(acceptance),
  streamingRow(ROUTES.EXPORT.export, (fields, from) => acceptance.exports.export(fields, from)),
  channelMetricsRow(acceptance),
  ...rowsOf(ROUTES.RECEIPTS, acceptance.receipts),
  ...rowsOf(ROUTES.DELIVERY, acceptance.devices),
  ...rowsOf(ROUTES.RULE_READING, acceptance.rules),
]

/** A call of the acceptance stage, with the fields that a request brought. */
type Call<Data> = (fields: unknown, from: Caller) => Answer<Data> | Promise<Answer<Data>>

/** The calls behind routes, which have the names of their verbs. */
type Calls<Routes> = {
  readonly [Verb in keyof Routes]: Routes[Verb] extends { readonly data: infer Data }
    ? Call<DataOf<Data>>
    : never
}

/** The rows of the routes of a resource. */
const rowsOf = <Routes extends Readonly<Record<string, Route>>>(
  routes: Routes,
  calls: Calls<Routes>,
): readonly Row[] =>
  Object.entries(routes).map(([verb, route]) =>
    rowOf(route, (fields, from) => (calls as never as Named)[verb]?.(fields, from)),
  )

type Named = Readonly<Record<string, Call<unknown> | undefined>>

/** The row of a declared route. A body that may hold a password counts in its budget. */
function rowOf(route: Route, call: (fields: unknown, from: Request) => unknown): Row {
  const { path, method, request, bytesMax, makesDevices, isForOperator, write } = route
  const shared = { answerer: envelope(write), about: route }
  if (method === 'GET') {
    const { query = object({}, []) } = route
    return get(path, {
      ...shared,
      reader: QUERY,
      handle: (from) => call(fieldsIn(from.query, query), from),
    })
  }
  const hasPassword = route.hasPasswords === true || 'password' in (request?.properties ?? {})
  return post(path, {
    ...shared,
    credentials: hasPassword ? 'body' : 'none',
    ...(bytesMax !== undefined && { reader: jsonBody(bytesMax) }),
    ...(makesDevices && { makesDevices }),
    ...(isForOperator && { token: 'proven' as const }),
    handle: (from) => call(from.body, from),
  })
}

/** The row of a declared route whose answer is a stream of texts. */
const streamingRow = (
  route: Route & Required<Pick<Route, 'raw'>>,
  call: Call<TextStream>,
): Row => ({
  ...rowOf(route, async (fields, from) => {
    const stream = await call(fields, from)
    return isFault(stream)
      ? stream
      : { ...stream, contentType: `${route.raw.mediaType}; charset=utf-8` }
  }),
  answerer: STREAM,
})

/** The row of series, whose answer may be long. */
const seriesRow = ({ series }: Acceptance): Row => ({
  ...rowOf(ROUTES.SERIES.series, async (fields, from) => {
    const found = await series.series(fields, from)
    if (isFault(found)) return found
    const data = await jsonInParts(ROUTES.SERIES.series.write(found), () => series.pause())
    return { contentType: JSON_TYPE, body: enveloped(data) }
  }),
  answerer: DOCUMENT,
})

const SEND: Intent = { model: 'message', action: 'send' }
const ACKNOWLEDGE: Intent = { model: 'event', action: 'acknowledge' }

const submittingRow = ({ submissions }: Acceptance, route: Route, intent: Intent): Row =>
  rowOf(route, (fields, from) => submissions.submit(intent, fields, from))

function submissionRows(acceptance: Acceptance): readonly Row[] {
  const { submissions, statuses } = acceptance
  const row = (route: Route, intent: Intent): Row => submittingRow(acceptance, route, intent)
  return [
    row(ROUTES.MESSAGE.send, SEND),
    {
      ...rowOf(ROUTES.MESSAGE.sendByQuery, (_, from) => {
        const fields = messageBodyFromQuery(from.sentQuery)
        return isFault(fields) ? fields : submissions.submit(SEND, fields, from)
      }),
      credentials: 'query',
      isSafe: false,
    },
    ...EVENT_ACTIONS.map((action) => row(ROUTES.EVENT_CHANGE[action], { model: 'event', action })),
    ...EVENT_ACTIONS.map((action) =>
      rowOf(ROUTES.EVENT_OF_THING_CHANGE[action], (fields, from) => {
        const intent = { model: 'event', action, thingId: from.parameters['thing_id'] } as const
        return submissions.submit(intent, fields, from)
      }),
    ),
    row(ROUTES.EVENT_ACKNOWLEDGEMENT.acknowledge, ACKNOWLEDGE),
    ...THING_ACTIONS.map((action) => row(ROUTES.THING_CHANGE[action], { model: 'thing', action })),
    rowOf(ROUTES.STATUS.find, (_, from) => statuses.find(from.parameters['op_id'] ?? '', from)),
  ]
}

// The native routes. A row translates: fields into a call of the acceptance stage, its outcome into
// an answer.

import { isFault } from '#domain/fault'
import type { Operation } from '#domain/operation'
import type { Page } from '#domain/store-ports'
import { EVENT_ACTIONS, THING_ACTIONS } from '#domain/submission'
import type { Acceptance } from '#src/acceptance/acceptance'
import type { Intent } from '#src/acceptance/intent'
import {
  acknowledgedToWire,
  channelIdToWire,
  channelToWire,
  deviceRouteToWire,
  existenceToWire,
  joinedToWire,
  leftToWire,
  registeredToWire,
  synchronisedToWire,
} from '#src/schemas/administration-answers'
import {
  acceptedToWire,
  channelInfoToWire,
  eventToWire,
  feedEntryToWire,
  operationToWire,
  pageToWire,
  pulledToWire,
  thingToWire,
} from '#src/schemas/answers'
import type { Wire } from '#src/schemas/answers'
import { SYNC_BODY_BYTES_MAX } from '#src/schemas/channel-schemas'
import { messageBodyFromQuery } from '#src/schemas/message'
import { envelope } from './answerer.ts'
import { channelKeyRows } from './channel-key-rows.ts'
import * as about from './descriptions.ts'
import { QUERY, jsonBody } from './reader.ts'
import { get, post } from './row.ts'
import type { Row } from './row.ts'

export interface NativePorts {
  readonly acceptance: Acceptance
  readonly statusRetentionMs: number
}

export const nativeRows = (ports: NativePorts): readonly Row[] => [
  ...submissionRows(ports),
  ...deviceRows(ports),
  ...channelRows(ports),
  ...channelKeyRows(ports.acceptance),
  ...readingRows(ports),
]

const ACCEPTED = envelope(acceptedToWire)
const SEND: Intent = { model: 'message', action: 'send' }

function submissionRows({ acceptance, statusRetentionMs }: NativePorts): readonly Row[] {
  const { submissions, statuses } = acceptance
  const credentials = 'body'
  const answerer = ACCEPTED
  return [
    post('/message', {
      credentials,
      handle: (request) => submissions.submit(SEND, request.body, request),
      answerer,
      about: about.SEND,
    }),
    get('/message', {
      credentials: 'query',
      reader: QUERY,
      isSafe: false,
      handle: (request) => {
        const fields = messageBodyFromQuery(request.query)
        return isFault(fields) ? fields : submissions.submit(SEND, fields, request)
      },
      answerer,
      about: about.SEND_BY_QUERY,
    }),
    ...EVENT_ACTIONS.flatMap((action) => {
      const intent: Intent = { model: 'event', action }
      return [
        post(`/event/${action}`, {
          credentials,
          handle: (request) => submissions.submit(intent, request.body, request),
          answerer,
          about: about.aboutEvent(action),
        }),
        post(`/thing/{thing_id}/event/${action}`, {
          credentials,
          handle: (request) => {
            const scoped = { ...intent, thingId: request.parameters['thing_id'] }
            return submissions.submit(scoped, request.body, request)
          },
          answerer,
          about: about.aboutScopedEvent(action),
        }),
      ]
    }),
    ...THING_ACTIONS.map((action) => {
      const intent: Intent = { model: 'thing', action }
      return post(`/thing/${action}`, {
        credentials,
        handle: (request) => submissions.submit(intent, request.body, request),
        answerer,
        about: about.aboutThing(action),
      })
    }),
    get('/send_status/{op_id}', {
      handle: (request) => statuses.find(request.parameters['op_id'] ?? '', request),
      answerer: envelope((operation: Operation) => operationToWire(operation, statusRetentionMs)),
      about: about.STATUS_OF_OPERATION,
    }),
  ]
}

function deviceRows({ acceptance }: NativePorts): readonly Row[] {
  const { registration, deviceRoutes } = acceptance
  return [
    post('/device/register', {
      makesDevices: true,
      handle: (request) => registration.register(request.body, request),
      answerer: envelope(registeredToWire),
      about: about.REGISTER,
    }),
    post('/channel/device', {
      handle: (request) => deviceRoutes.set(request.body, request),
      answerer: envelope(deviceRouteToWire),
      about: about.SET_ROUTE,
    }),
    post('/channel/device/delete', {
      handle: (request) => deviceRoutes.delete(request.body, request),
      answerer: envelope(deviceRouteToWire),
      about: about.DELETE_ROUTE,
    }),
    post('/channel/device/provider-token/retire', {
      handle: (request) => deviceRoutes.retireToken(request.body, request),
      answerer: envelope(() => ({ retired: true })),
      about: about.RETIRE_TOKEN,
    }),
  ]
}

function channelRows({ acceptance }: NativePorts): readonly Row[] {
  const { channels, subscriptions } = acceptance
  const credentials = 'body'
  return [
    post('/channel/create', {
      credentials,
      handle: (request) => channels.create(request.body, request),
      answerer: envelope(channelToWire),
      about: about.CREATE,
    }),
    post('/channel/subscribe', {
      credentials,
      handle: (request) => subscriptions.subscribe(request.body, request),
      answerer: envelope(joinedToWire),
      about: about.SUBSCRIBE,
    }),
    post('/channel/unsubscribe', {
      handle: (request) => subscriptions.unsubscribe(request.body, request),
      answerer: envelope(leftToWire),
      about: about.UNSUBSCRIBE,
    }),
    post('/channel/sync', {
      credentials,
      reader: jsonBody(SYNC_BODY_BYTES_MAX),
      handle: (request) => subscriptions.synchronise(request.body, request),
      answerer: envelope(synchronisedToWire),
      about: about.SYNC,
    }),
    post('/channel/rename', {
      credentials,
      handle: (request) => channels.rename(request.body, request),
      answerer: envelope(channelToWire),
      about: about.RENAME,
    }),
    post('/channel/password', {
      credentials,
      handle: (request) => channels.changePassword(request.body, request),
      answerer: envelope(channelIdToWire),
      about: about.CHANGE_PASSWORD,
    }),
    post('/channel/delete', {
      credentials,
      handle: (request) => channels.delete(request.body, request),
      answerer: envelope(() => ({ deleted: true })),
      about: about.DELETE_CHANNEL,
    }),
    post('/channel/info', {
      credentials,
      handle: (request) => channels.info(request.body, request),
      answerer: envelope(channelInfoToWire),
      about: about.INFO,
    }),
    get('/channel/exists', {
      reader: QUERY,
      handle: (request) => channels.exists(request.query.get('channel_id') ?? undefined, request),
      answerer: envelope(existenceToWire),
      about: about.EXISTS,
    }),
  ]
}

const pages = <Item>(toWire: (item: Item) => Wire) =>
  envelope((page: Page<Item>) => pageToWire(page, toWire))

function readingRows({ acceptance }: NativePorts): readonly Row[] {
  const { state, deliveries } = acceptance
  const credentials = 'body'
  return [
    post('/thing/get', {
      credentials,
      handle: (request) => state.thing(request.body, request),
      answerer: envelope(thingToWire),
      about: about.aboutGet('thing'),
    }),
    post('/thing/list', {
      credentials,
      handle: (request) => state.things(request.body, request),
      answerer: pages(thingToWire),
      about: about.aboutList('thing'),
    }),
    post('/event/get', {
      credentials,
      handle: (request) => state.event(request.body, request),
      answerer: envelope(eventToWire),
      about: about.aboutGet('event'),
    }),
    post('/event/list', {
      credentials,
      handle: (request) => state.events(request.body, request),
      answerer: pages(eventToWire),
      about: about.aboutList('event'),
    }),
    post('/channel/history', {
      credentials,
      handle: (request) => state.history(request.body, request),
      answerer: pages(feedEntryToWire),
      about: about.HISTORY,
    }),
    post('/messages/pull', {
      handle: (request) => deliveries.pull(request.body, request),
      answerer: envelope(pulledToWire),
      about: about.PULL,
    }),
    post('/messages/ack', {
      handle: (request) => deliveries.acknowledge(request.body, request),
      answerer: envelope(acknowledgedToWire),
      about: about.ACKNOWLEDGE,
    }),
  ]
}

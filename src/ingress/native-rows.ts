// The native routes. A row translates: fields into a call of the acceptance stage, its outcome into
// an answer. Its schemas and codes are declared in src/schemas.

import { isFault } from '#domain/fault'
import type { Request } from './request.ts'
import type { Operation } from '#domain/operation'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { Page } from '#domain/store-ports'
import { EVENT_ACTIONS, RULE_ACTIONS, THING_ACTIONS } from '#domain/submission'
import type { Acceptance } from '#src/acceptance/acceptance'
import type { Intent } from '#src/acceptance/intent'
import {
  acceptedToWire,
  acknowledgedToWire,
  channelIdToWire,
  channelToWire,
  deviceRouteToWire,
  existenceToWire,
  joinedToWire,
  leftToWire,
  registeredToWire,
  subscribersToWire,
  synchronisedToWire,
  channelInfoToWire,
  eventToWire,
  feedEntryToWire,
  operationToWire,
  pageToWire,
  pulledToWire,
  thingToWire,
} from '#src/schemas/answers'
import type { Wire } from '#src/schemas/answers'
import { listedKeysToWire, madeKeyToWire } from '#src/schemas/channel-key-requests'
import { CHANNEL_KEY_ROUTES } from '#src/schemas/channel-key-schemas'
import { CHANNEL_ROUTES, SYNC_BODY_BYTES_MAX } from '#src/schemas/channel-schemas'
import { DEVICE_ROUTES } from '#src/schemas/device-schemas'
import { EVENT_ROUTES } from '#src/schemas/event-schemas'
import { mappingsToWire } from '#src/schemas/mappings/mapping'
import { MAPPING_ROUTES } from '#src/schemas/mappings/mapping-schemas'
import { messageBodyFromQuery } from '#src/schemas/message'
import { MESSAGE_ROUTES } from '#src/schemas/message-schemas'
import { ruleToWire, triedToWire } from '#src/schemas/rules/rule-requests'
import { RULE_ROUTES } from '#src/schemas/rules/rule-schemas'
import { READING_ROUTES } from '#src/schemas/reading-schemas'
import type { Declared } from '#src/schemas/route'
import { STATUS_ROUTES } from '#src/schemas/submission-schemas'
import { THING_ROUTES } from '#src/schemas/thing-schemas'
import { envelope } from './answerer.ts'
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
  ...keyRows(ports),
  ...readingRows(ports),
  ...ruleRows(ports),
]

type Handle<Data> = (request: Request) => Answer<Data> | Promise<Answer<Data>>

/** Rows for POST of declared routes. A body that may hold a password counts in its budget. */
const declared =
  <Path extends string>(routes: Readonly<Record<Path, Declared>>) =>
  <Data>(path: Path, handle: Handle<Data>, toWire: (data: Data) => Wire): Row => {
    const hasPassword = 'password' in (routes[path].request?.properties ?? {})
    return post(path, {
      credentials: hasPassword ? 'body' : 'none',
      handle,
      answerer: envelope(toWire),
      about: routes[path],
    })
  }

const SEND: Intent = { model: 'message', action: 'send' }

function submissionRows({ acceptance, statusRetentionMs }: NativePorts): readonly Row[] {
  const { submissions, cancellations, statuses } = acceptance
  const toWire = (operation: Operation): Wire => operationToWire(operation, statusRetentionMs)
  const row = declared({ ...MESSAGE_ROUTES, ...EVENT_ROUTES, ...THING_ROUTES })
  return [
    row('/message', (request) => submissions.submit(SEND, request.body, request), acceptedToWire),
    get('/message', {
      credentials: 'query',
      reader: QUERY,
      isSafe: false,
      handle: (request) => {
        const fields = messageBodyFromQuery(request.query)
        return isFault(fields) ? fields : submissions.submit(SEND, fields, request)
      },
      answerer: envelope(acceptedToWire),
      about: MESSAGE_ROUTES['GET /message'],
    }),
    row('/message/cancel', (request) => cancellations.cancel(request.body, request), toWire),
    ...EVENT_ACTIONS.flatMap((action) => {
      const intent: Intent = { model: 'event', action }
      return [
        row(
          `/event/${action}`,
          (request) => submissions.submit(intent, request.body, request),
          acceptedToWire,
        ),
        row(
          `/thing/{thing_id}/event/${action}`,
          (request) => {
            const scoped = { ...intent, thingId: request.parameters['thing_id'] }
            return submissions.submit(scoped, request.body, request)
          },
          acceptedToWire,
        ),
      ]
    }),
    ...THING_ACTIONS.map((action) => {
      const intent: Intent = { model: 'thing', action }
      return row(
        `/thing/${action}`,
        (request) => submissions.submit(intent, request.body, request),
        acceptedToWire,
      )
    }),
    get('/send_status/{op_id}', {
      handle: (request) => statuses.find(request.parameters['op_id'] ?? '', request),
      answerer: envelope(toWire),
      about: STATUS_ROUTES['GET /send_status/{op_id}'],
    }),
  ]
}

function deviceRows({ acceptance }: NativePorts): readonly Row[] {
  const { registration, deviceRoutes } = acceptance
  const row = declared(DEVICE_ROUTES)
  return [
    {
      ...row(
        '/device/register',
        (request) => registration.register(request.body, request),
        registeredToWire,
      ),
      makesDevices: true,
    },
    row('/channel/device', (request) => deviceRoutes.set(request.body, request), deviceRouteToWire),
    row(
      '/channel/device/delete',
      (request) => deviceRoutes.delete(request.body, request),
      deviceRouteToWire,
    ),
    row(
      '/channel/device/provider-token/retire',
      (request) => deviceRoutes.retireToken(request.body, request),
      () => ({ retired: true }),
    ),
  ]
}

function channelRows({ acceptance }: NativePorts): readonly Row[] {
  const { channels, subscriptions, subscribers, mappings } = acceptance
  const row = declared({ ...CHANNEL_ROUTES, ...MAPPING_ROUTES })
  return [
    row('/channel/create', (request) => channels.create(request.body, request), channelToWire),
    row(
      '/channel/subscribe',
      (request) => subscriptions.subscribe(request.body, request),
      joinedToWire,
    ),
    row(
      '/channel/unsubscribe',
      (request) => subscriptions.unsubscribe(request.body, request),
      leftToWire,
    ),
    {
      ...row(
        '/channel/sync',
        (request) => subscriptions.synchronise(request.body, request),
        synchronisedToWire,
      ),
      credentials: 'body', // Each listed Channel has its password.
      reader: jsonBody(SYNC_BODY_BYTES_MAX),
    },
    row(
      '/channel/subscriber/list',
      (request) => subscribers.list(request.body, request),
      subscribersToWire,
    ),
    row(
      '/channel/subscriber/remove',
      (request) => subscribers.remove(request.body, request),
      leftToWire,
    ),
    row('/channel/rename', (request) => channels.rename(request.body, request), channelToWire),
    row(
      '/channel/password',
      (request) => channels.changePassword(request.body, request),
      channelIdToWire,
    ),
    row(
      '/channel/delete',
      (request) => channels.delete(request.body, request),
      () => ({ deleted: true }),
    ),
    row('/channel/info', (request) => channels.info(request.body, request), channelInfoToWire),
    row('/channel/mappings', (request) => mappings.use(request.body, request), mappingsToWire),
    get('/channel/exists', {
      reader: QUERY,
      handle: (request) => channels.exists(request.query.get('channel_id') ?? undefined, request),
      answerer: envelope(existenceToWire),
      about: CHANNEL_ROUTES['GET /channel/exists'],
    }),
  ]
}

function keyRows({ acceptance: { keys } }: NativePorts): readonly Row[] {
  const row = declared(CHANNEL_KEY_ROUTES)
  return [
    row('/channel/key', (request) => keys.create(request.body, request), madeKeyToWire),
    row('/channel/key/list', (request) => keys.list(request.body, request), listedKeysToWire),
    row(
      '/channel/key/revoke',
      (request) => keys.revoke(request.body, request),
      (channelId: ChannelId) => ({ channel_id: channelId, revoked: true }),
    ),
  ]
}

function ruleRows({ acceptance: { submissions, rules } }: NativePorts): readonly Row[] {
  const row = declared(RULE_ROUTES)
  return [
    ...RULE_ACTIONS.map((action) =>
      row(
        `/rule/${action}`,
        (request) => submissions.submit({ model: 'rule', action }, request.body, request),
        acceptedToWire,
      ),
    ),
    row('/rule/get', (request) => rules.get(request.body, request), ruleToWire),
    row('/rule/list', (request) => rules.list(request.body, request), pageOf(ruleToWire)),
    row('/rule/test', (request) => rules.test(request.body, request), triedToWire),
  ]
}

const pageOf =
  <Item>(toWire: (item: Item) => Wire) =>
  (page: Page<Item>): Wire =>
    pageToWire(page, toWire)

function readingRows({ acceptance }: NativePorts): readonly Row[] {
  const { state, deliveries } = acceptance
  const row = declared(READING_ROUTES)
  return [
    row('/thing/get', (request) => state.thing(request.body, request), thingToWire),
    row('/thing/list', (request) => state.things(request.body, request), pageOf(thingToWire)),
    row('/event/get', (request) => state.event(request.body, request), eventToWire),
    row('/event/list', (request) => state.events(request.body, request), pageOf(eventToWire)),
    row(
      '/channel/history',
      (request) => state.history(request.body, request),
      pageOf(feedEntryToWire),
    ),
    row('/messages/pull', (request) => deliveries.pull(request.body, request), pulledToWire),
    row(
      '/messages/ack',
      (request) => deliveries.acknowledge(request.body, request),
      acknowledgedToWire,
    ),
  ]
}

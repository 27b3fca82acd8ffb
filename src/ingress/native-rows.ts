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

/** A call of the acceptance stage, with the body that a request brought. */
type Call<Data> = (body: unknown, from: Request) => Answer<Data> | Promise<Answer<Data>>

/** Rows for POST of declared routes. A body that may hold a password counts in its budget. */
const declared =
  <Path extends string>(routes: Readonly<Record<Path, Declared>>) =>
  <Data>(path: Path, call: Call<Data>, toWire: (data: Data) => Wire): Row => {
    const hasPassword = 'password' in (routes[path].request?.properties ?? {})
    return post(path, {
      credentials: hasPassword ? 'body' : 'none',
      handle: (request) => call(request.body, request),
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
    row('/message', (body, from) => submissions.submit(SEND, body, from), acceptedToWire),
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
    row('/message/cancel', (body, from) => cancellations.cancel(body, from), toWire),
    ...EVENT_ACTIONS.flatMap((action) => {
      const intent: Intent = { model: 'event', action }
      return [
        row(
          `/event/${action}`,
          (body, from) => submissions.submit(intent, body, from),
          acceptedToWire,
        ),
        row(
          `/thing/{thing_id}/event/${action}`,
          (body, from) => {
            const scoped = { ...intent, thingId: from.parameters['thing_id'] }
            return submissions.submit(scoped, body, from)
          },
          acceptedToWire,
        ),
      ]
    }),
    ...THING_ACTIONS.map((action) => {
      const intent: Intent = { model: 'thing', action }
      return row(
        `/thing/${action}`,
        (body, from) => submissions.submit(intent, body, from),
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
  const { devices } = acceptance
  const row = declared(DEVICE_ROUTES)
  return [
    {
      ...row('/device/register', (body, from) => devices.register(body, from), registeredToWire),
      makesDevices: true,
    },
    row('/channel/device', (body, from) => devices.setRoute(body, from), deviceRouteToWire),
    row(
      '/channel/device/delete',
      (body, from) => devices.deleteRoute(body, from),
      deviceRouteToWire,
    ),
    row(
      '/channel/device/provider-token/retire',
      (body, from) => devices.retireToken(body, from),
      () => ({ retired: true }),
    ),
  ]
}

function channelRows({ acceptance }: NativePorts): readonly Row[] {
  const { channels, subscriptions, subscribers, mappings } = acceptance
  const row = declared({ ...CHANNEL_ROUTES, ...MAPPING_ROUTES })
  return [
    row('/channel/create', (body, from) => channels.create(body, from), channelToWire),
    row('/channel/subscribe', (body, from) => subscriptions.subscribe(body, from), joinedToWire),
    row('/channel/unsubscribe', (body, from) => subscriptions.unsubscribe(body, from), leftToWire),
    {
      ...row(
        '/channel/sync',
        (body, from) => subscriptions.synchronise(body, from),
        synchronisedToWire,
      ),
      credentials: 'body', // Each listed Channel has its password.
      reader: jsonBody(SYNC_BODY_BYTES_MAX),
    },
    row(
      '/channel/subscriber/list',
      (body, from) => subscribers.list(body, from),
      subscribersToWire,
    ),
    row('/channel/subscriber/remove', (body, from) => subscribers.remove(body, from), leftToWire),
    row('/channel/rename', (body, from) => channels.rename(body, from), channelToWire),
    row('/channel/password', (body, from) => channels.changePassword(body, from), channelIdToWire),
    row(
      '/channel/delete',
      (body, from) => channels.delete(body, from),
      () => ({ deleted: true }),
    ),
    row('/channel/info', (body, from) => channels.info(body, from), channelInfoToWire),
    row('/channel/mappings', (body, from) => mappings.use(body, from), mappingsToWire),
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
    row('/channel/key', (body, from) => keys.create(body, from), madeKeyToWire),
    row('/channel/key/list', (body, from) => keys.list(body, from), listedKeysToWire),
    row(
      '/channel/key/revoke',
      (body, from) => keys.revoke(body, from),
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
        (body, from) => submissions.submit({ model: 'rule', action }, body, from),
        acceptedToWire,
      ),
    ),
    row('/rule/get', (body, from) => rules.get(body, from), ruleToWire),
    row('/rule/list', (body, from) => rules.list(body, from), pageOf(ruleToWire)),
    row('/rule/test', (body, from) => rules.test(body, from), triedToWire),
  ]
}

const pageOf =
  <Item>(toWire: (item: Item) => Wire) =>
  (page: Page<Item>): Wire =>
    pageToWire(page, toWire)

function readingRows({ acceptance }: NativePorts): readonly Row[] {
  const { state, devices } = acceptance
  const row = declared(READING_ROUTES)
  return [
    row('/thing/get', (body, from) => state.thing(body, from), thingToWire),
    row('/thing/list', (body, from) => state.things(body, from), pageOf(thingToWire)),
    row('/event/get', (body, from) => state.event(body, from), eventToWire),
    row('/event/list', (body, from) => state.events(body, from), pageOf(eventToWire)),
    row('/channel/history', (body, from) => state.history(body, from), pageOf(feedEntryToWire)),
    row('/messages/pull', (body, from) => devices.pull(body, from), pulledToWire),
    row('/messages/ack', (body, from) => devices.acknowledge(body, from), acknowledgedToWire),
  ]
}

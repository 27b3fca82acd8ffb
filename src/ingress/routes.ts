// The one table of routes. What is not here does not exist; the OpenAPI document is made from it.

import { fault } from '#domain/fault'
import { SYNC_BODY_BYTES_MAX } from '#src/schemas/channel-schemas'
import { openApiDocument } from '#src/schemas/openapi'
import {
  changePassword,
  channelExists,
  channelInfo,
  deleteChannel,
  renameChannel,
} from './channel-settings.ts'
import type { SettingsPorts } from './channel-settings.ts'
import { createChannel } from './create-channel.ts'
import * as about from './descriptions.ts'
import { deleteDeviceRoute, retireProviderToken, setDeviceRoute } from './device-route.ts'
import { health, metrics, profile, readiness } from './probes.ts'
import type { ReadinessPorts } from './probes.ts'
import { acknowledgeDeliveries, pullDeliveries } from './pull-deliveries.ts'
import type { PullPorts } from './pull-deliveries.ts'
import { channelHistory, getEntity, listEntities } from './read-state.ts'
import type { ReadPorts } from './read-state.ts'
import { readStatus } from './read-status.ts'
import type { StatusPorts } from './read-status.ts'
import { registerDevice } from './register-device.ts'
import type { RegisterPorts } from './register-device.ts'
import { JSON_TYPE, STATUS } from './respond.ts'
import type { Document, Handler } from './request.ts'
import { COUNTED, FREE, UNGUARDED, describe, get, post, unsafeGet } from './route.ts'
import type { Route } from './route.ts'
import { submitEvent } from './submit-event.ts'
import { submitMessage, submitMessageByQuery } from './submit-message.ts'
import type { MessagePorts } from './submit-message.ts'
import { submitThing } from './submit-thing.ts'
import { subscribe, unsubscribe } from './subscribe.ts'
import type { SubscribePorts } from './subscribe.ts'
import { syncSubscriptions } from './sync-subscriptions.ts'
import type { DeviceRoutePorts } from './device-route.ts'

/** Everything that the handlers use, together. */
export type RoutePorts = SettingsPorts &
  MessagePorts &
  StatusPorts &
  ObservationPorts &
  ReadPorts &
  PullPorts &
  RegisterPorts &
  DeviceRoutePorts &
  SubscribePorts & { readonly version: string }

export interface ObservationPorts extends ReadinessPorts {
  readonly profile: () => object
  readonly metricsText: () => Promise<string>
}

/** The table: path, handler, tiers of checks, description. */
export function routeTable(ports: RoutePorts): readonly Route[] {
  const table: Route[] = [
    post('/message', submitMessage(ports), COUNTED, about.SEND),
    unsafeGet('/message', submitMessageByQuery(ports), COUNTED, about.SEND_BY_QUERY),
    ...EVENT_ACTIONS.flatMap((action) => [
      post(`/event/${action}`, submitEvent(action, ports), COUNTED, about.aboutEvent(action)),
      post(
        `/thing/{thing_id}/event/${action}`,
        submitEvent(action, ports),
        COUNTED,
        about.aboutScopedEvent(action),
      ),
    ]),
    ...THING_ACTIONS.map((action) =>
      post(`/thing/${action}`, submitThing(action, ports), COUNTED, about.aboutThing(action)),
    ),
    get('/send_status/{op_id}', readStatus(ports), FREE, about.STATUS_OF_OPERATION),

    post('/device/register', registerDevice(ports), FREE, about.REGISTER),
    post('/channel/device', setDeviceRoute(ports), FREE, about.SET_ROUTE),
    post('/channel/device/delete', deleteDeviceRoute(ports), FREE, about.DELETE_ROUTE),
    post(
      '/channel/device/provider-token/retire',
      retireProviderToken(ports),
      FREE,
      about.RETIRE_TOKEN,
    ),

    post('/channel/create', createChannel(ports), COUNTED, about.CREATE),
    post('/channel/subscribe', subscribe(ports), COUNTED, about.SUBSCRIBE),
    post('/channel/unsubscribe', unsubscribe(ports), FREE, about.UNSUBSCRIBE),
    {
      ...post('/channel/sync', syncSubscriptions(ports), COUNTED, about.SYNC),
      bodyBytesMax: SYNC_BODY_BYTES_MAX,
    },
    post('/channel/rename', renameChannel(ports), COUNTED, about.RENAME),
    post('/channel/password', changePassword(ports), COUNTED, about.CHANGE_PASSWORD),
    post('/channel/delete', deleteChannel(ports), COUNTED, about.DELETE_CHANNEL),
    post('/channel/info', channelInfo(ports), COUNTED, about.INFO),
    get('/channel/exists', channelExists(ports), FREE, about.EXISTS),

    post('/thing/get', getEntity('thing', ports), COUNTED, about.aboutGet('thing')),
    post('/thing/list', listEntities('thing', ports), COUNTED, about.aboutList('thing')),
    post('/event/get', getEntity('event', ports), COUNTED, about.aboutGet('event')),
    post('/event/list', listEntities('event', ports), COUNTED, about.aboutList('event')),
    post('/channel/history', channelHistory(ports), COUNTED, about.HISTORY),
    post('/messages/pull', pullDeliveries(ports), FREE, about.PULL),
    post('/messages/ack', acknowledgeDeliveries(ports), FREE, about.ACKNOWLEDGE),

    get('/', root(ports.version), FREE, about.ROOT),
    ...observationTable(ports),
    get('/openapi.json', () => openApi(table, ports.version), FREE, about.DOCUMENT),
    get('/private/ws', noUpgrade, UNGUARDED, about.SESSION),
  ]
  return table
}

/** What a process that takes no requests answers all the same. */
export const observationTable = (ports: ObservationPorts): readonly Route[] => [
  get('/healthz', health, FREE, about.HEALTH),
  get('/readyz', readiness(ports), FREE, about.READY),
  get('/gateway/profile', profile(ports.profile), FREE, about.PROFILE),
  get('/metrics', metrics(ports.metricsText), FREE, about.METRICS_TEXT),
]

const EVENT_ACTIONS = ['create', 'update', 'close'] as const
const THING_ACTIONS = ['create', 'update', 'archive', 'delete'] as const

const root =
  (version: string): Handler =>
  () => ({ name: 'heliograph', version, openapi: '/openapi.json' })

/** Reached only without an upgrade: the WebSocket itself is mounted by src/server.ts. */
const noUpgrade: Handler = () => fault('websocket_upgrade_required')

function openApi(table: readonly Route[], version: string): Document {
  const document = openApiDocument({ routes: table.map(describe), version, statusOf: STATUS })
  return { kind: 'document', contentType: JSON_TYPE, body: JSON.stringify(document) }
}

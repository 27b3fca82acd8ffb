// The description of each route in the OpenAPI document, beside the parts that its row gives.

import type { EventAction, ThingAction } from '#domain/submission'
import {
  ACK_DATA,
  EVENT_DATA,
  EVENT_LIST_DATA,
  HISTORY_DATA,
  OPERATION_DATA,
  PULL_DATA,
  THING_DATA,
  THING_LIST_DATA,
} from '#src/schemas/answer-schemas'
import {
  CHANNEL_DATA,
  CREATE_REQUEST,
  CREDENTIALS_REQUEST,
  DELETE_DATA,
  EXISTS_DATA,
  EXISTS_QUERY,
  INFO_DATA,
  PASSWORD_DATA,
  PASSWORD_REQUEST,
  RENAME_REQUEST,
  SUBSCRIBE_DATA,
  SUBSCRIBE_REQUEST,
  SYNC_DATA,
  SYNC_REQUEST,
  UNSUBSCRIBE_DATA,
  UNSUBSCRIBE_REQUEST,
} from '#src/schemas/channel-schemas'
import {
  DELETE_ROUTE_REQUEST,
  REGISTER_DATA,
  REGISTER_REQUEST,
  RETIRE_TOKEN_DATA,
  RETIRE_TOKEN_REQUEST,
  ROUTE_DATA,
  SET_ROUTE_REQUEST,
} from '#src/schemas/device-schemas'
import {
  ACK_REQUEST,
  ENTITY_GET_REQUESTS,
  ENTITY_LIST_REQUESTS,
  HISTORY_REQUEST,
  PULL_REQUEST,
} from '#src/schemas/reading-schemas'
import {
  ACCEPTED_DATA,
  EVENT_REQUESTS,
  MESSAGE_QUERY,
  MESSAGE_REQUEST,
  THING_REQUESTS,
  scopedEventRequest,
} from '#src/schemas/submission-schemas'
import { DEVICE, EVENT_CODES_OF, OPENING, SENDING, THING_CODES_OF } from './route-codes.ts'
import type { About } from './row.ts'

const VERB: Record<EventAction | ThingAction, string> = {
  create: 'Create',
  update: 'Update',
  close: 'Close',
  archive: 'Archive',
  delete: 'Delete',
}

const SUBMISSIONS = { tag: 'Submissions' } as const
const MESSAGE = { ...SUBMISSIONS, data: ACCEPTED_DATA.message, codes: SENDING } as const

export const SEND: About = { ...MESSAGE, summary: 'Send a Message', request: MESSAGE_REQUEST }

export const SEND_BY_QUERY: About = {
  ...MESSAGE,
  summary: 'Send a Message by query parameters (legacy)',
  query: MESSAGE_QUERY,
}

export const aboutEvent = (action: EventAction): About => ({
  ...SUBMISSIONS,
  summary: `${VERB[action]} an Event`,
  request: EVENT_REQUESTS[action],
  data: ACCEPTED_DATA.event,
  codes: EVENT_CODES_OF[action],
})

export const aboutScopedEvent = (action: EventAction): About => ({
  ...aboutEvent(action),
  summary: `${VERB[action]} an Event of a Thing`,
  request: scopedEventRequest(action),
  codes: [...EVENT_CODES_OF[action], 'thing_id_mismatch'],
})

export const aboutThing = (action: ThingAction): About => ({
  ...SUBMISSIONS,
  summary: `${VERB[action]} a Thing`,
  request: THING_REQUESTS[action],
  data: ACCEPTED_DATA.thing,
  codes: THING_CODES_OF[action],
})

export const STATUS_OF_OPERATION: About = {
  ...SUBMISSIONS,
  summary: 'Get the status of an operation',
  data: OPERATION_DATA,
  codes: ['send_status_not_found'],
}

const DEVICES = { tag: 'Devices' } as const

export const REGISTER: About = {
  ...DEVICES,
  summary: 'Register a device, or confirm its key',
  request: REGISTER_REQUEST,
  data: REGISTER_DATA,
  codes: ['invalid_platform'],
}

export const SET_ROUTE: About = {
  ...DEVICES,
  summary: 'Set the route to a device',
  request: SET_ROUTE_REQUEST,
  data: ROUTE_DATA,
  codes: [
    ...DEVICE,
    'invalid_channel_type',
    'provider_token_required',
    'provider_token_forbidden_for_private_channel',
    'invalid_provider_token',
    'apns_channel_requires_apple_platform',
    'fcm_channel_requires_android_platform',
  ],
}

export const DELETE_ROUTE: About = {
  ...DEVICES,
  summary: 'Set the route to a device back to private',
  request: DELETE_ROUTE_REQUEST,
  data: ROUTE_DATA,
  codes: [...DEVICE, 'invalid_channel_type', 'channel_type_mismatch'],
}

export const RETIRE_TOKEN: About = {
  ...DEVICES,
  summary: 'Retire a provider token',
  request: RETIRE_TOKEN_REQUEST,
  data: RETIRE_TOKEN_DATA,
  codes: ['invalid_platform', 'provider_token_required', 'invalid_provider_token'],
}

const CHANNELS = { tag: 'Channels' } as const

export const CREATE: About = {
  ...CHANNELS,
  summary: 'Create a Channel',
  request: CREATE_REQUEST,
  data: CHANNEL_DATA,
  codes: ['invalid_channel_name', 'password_required', 'invalid_password'],
}

export const SUBSCRIBE: About = {
  ...CHANNELS,
  summary: 'Subscribe a device to a Channel, or to a new one',
  request: SUBSCRIBE_REQUEST,
  data: SUBSCRIBE_DATA,
  codes: [
    ...OPENING,
    ...DEVICE,
    'channel_binding_invalid',
    'invalid_channel_name',
    'channel_subscriber_limit_exceeded',
  ],
}

export const UNSUBSCRIBE: About = {
  ...CHANNELS,
  summary: 'Unsubscribe a device from a Channel',
  request: UNSUBSCRIBE_REQUEST,
  data: UNSUBSCRIBE_DATA,
  codes: [...DEVICE, 'channel_id_required', 'invalid_channel_id'],
}

export const SYNC: About = {
  ...CHANNELS,
  summary: 'Make the subscriptions of a device equal to a list',
  request: SYNC_REQUEST,
  data: SYNC_DATA,
  codes: [...DEVICE, 'channels_limit_exceeded'],
}

export const RENAME: About = {
  ...CHANNELS,
  summary: 'Rename a Channel',
  request: RENAME_REQUEST,
  data: CHANNEL_DATA,
  codes: [...OPENING, 'invalid_channel_name'],
}

export const CHANGE_PASSWORD: About = {
  ...CHANNELS,
  summary: 'Change the password of a Channel',
  request: PASSWORD_REQUEST,
  data: PASSWORD_DATA,
  codes: OPENING,
}

export const DELETE_CHANNEL: About = {
  ...CHANNELS,
  summary: 'Delete a Channel',
  request: CREDENTIALS_REQUEST,
  data: DELETE_DATA,
  codes: OPENING,
}

export const INFO: About = {
  ...CHANNELS,
  summary: 'Get the name and the counts of a Channel',
  request: CREDENTIALS_REQUEST,
  data: INFO_DATA,
  codes: OPENING,
}

export const EXISTS: About = {
  ...CHANNELS,
  summary: 'Check whether a Channel exists',
  query: EXISTS_QUERY,
  data: EXISTS_DATA,
  codes: ['channel_id_required', 'invalid_channel_id'],
}

const READING = { tag: 'Reading' } as const

export const aboutGet = (model: 'thing' | 'event'): About => ({
  ...READING,
  summary: `Get the present state of one ${model}`,
  request: ENTITY_GET_REQUESTS[model],
  data: model === 'thing' ? THING_DATA : EVENT_DATA,
  codes: [...OPENING, `${model}_id_required`, 'entity_not_found'],
})

export const aboutList = (model: 'thing' | 'event'): About => ({
  ...READING,
  summary: `List the ${model}s of a Channel, newest change first`,
  request: ENTITY_LIST_REQUESTS[model],
  data: model === 'thing' ? THING_LIST_DATA : EVENT_LIST_DATA,
  codes: [...OPENING, 'invalid_cursor'],
})

export const HISTORY: About = {
  ...READING,
  summary: 'Read the feed of a Channel in seq order',
  request: HISTORY_REQUEST,
  data: HISTORY_DATA,
  codes: [...OPENING, 'invalid_cursor', 'invalid_timestamp'],
}

export const PULL: About = {
  ...READING,
  summary: 'Get the deliveries that a device has not acknowledged',
  request: PULL_REQUEST,
  data: PULL_DATA,
  codes: DEVICE,
}

export const ACKNOWLEDGE: About = {
  ...READING,
  summary: 'Acknowledge deliveries',
  request: ACK_REQUEST,
  data: ACK_DATA,
  codes: [...DEVICE, 'delivery_id_invalid', 'delivery_ack_batch_invalid'],
}

const GATEWAY = { tag: 'Gateway' } as const

export const ROOT: About = { ...GATEWAY, summary: 'Get the name and the version of the gateway' }
export const HEALTH: About = { ...GATEWAY, summary: 'Check that the process is alive' }
export const READY: About = {
  ...GATEWAY,
  summary: 'Check that the gateway and its dependencies are ready',
}
export const PROFILE: About = { ...GATEWAY, summary: 'Get the data that devices need to connect' }

export const METRICS_TEXT: About = {
  ...GATEWAY,
  summary: 'Read the metrics as Prometheus text',
  raw: { mediaType: 'text/plain', schema: { type: 'string' } },
}

export const DOCUMENT: About = {
  ...GATEWAY,
  summary: 'Get this document',
  raw: { mediaType: 'application/json', schema: { type: 'object' } },
}

export const SESSION: About = {
  ...GATEWAY,
  summary: 'Open a device session over WebSocket',
  upgradesTo: 'WebSocket with the subprotocol heliograph.v1',
  codes: ['websocket_upgrade_required', 'missing_websocket_subprotocol'],
}

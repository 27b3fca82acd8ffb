// Reason codes of MQTT 5 and return codes of MQTT 3.1.1, and the one that each fault has.

import type { Fault } from '#domain/fault'
import { CATEGORY, STATUS } from '#src/refusals/refusal'
import type { Category } from '#src/refusals/refusal'

/** Reason codes of MQTT 5 that the gateway sends. */
export const REASON = {
  success: 0x00,
  noSubscriptionExisted: 0x11,
  unspecified: 0x80,
  malformedPacket: 0x81,
  protocolError: 0x82,
  clientIdInvalid: 0x85,
  badCredentials: 0x86,
  notAuthorized: 0x87,
  serverUnavailable: 0x88,
  serverBusy: 0x89,
  serverShuttingDown: 0x8b,
  badAuthenticationMethod: 0x8c,
  keepAliveTimeout: 0x8d,
  sessionTakenOver: 0x8e,
  topicFilterInvalid: 0x8f,
  topicNameInvalid: 0x90,
  packetIdNotFound: 0x92,
  receiveMaximumExceeded: 0x93,
  topicAliasInvalid: 0x94,
  packetTooLarge: 0x95,
  quotaExceeded: 0x97,
  payloadFormatInvalid: 0x99,
  sharedSubscriptionsNotSupported: 0x9e,
  connectionRateExceeded: 0x9f,
} as const

export type ReasonCode = (typeof REASON)[keyof typeof REASON]

const OF_CATEGORY: Record<Category, ReasonCode> = {
  validation: REASON.payloadFormatInvalid,
  auth: REASON.notAuthorized,
  not_found: REASON.notAuthorized,
  conflict: REASON.payloadFormatInvalid,
  rate_limit: REASON.quotaExceeded,
  too_busy: REASON.quotaExceeded,
  internal: REASON.unspecified,
}

/** The reason code with which a PUBACK or PUBREC carries a refusal. */
export const reasonOf = ({ code }: Fault): ReasonCode =>
  code === 'route_not_found' ? REASON.topicNameInvalid : OF_CATEGORY[CATEGORY[STATUS[code]]]

/** The answers to a CONNECT that is refused. */
export interface ConnectRefusal {
  readonly reasonCode: ReasonCode
  /** Of MQTT 3.1.1. */
  readonly returnCode: 1 | 2 | 3 | 4 | 5
  /** In words, for MQTT 5. */
  readonly detail?: string
}

const UNAVAILABLE = 3
const OF_CONNECT: Record<Category, ConnectRefusal> = {
  validation: { reasonCode: REASON.badCredentials, returnCode: 4 },
  auth: { reasonCode: REASON.notAuthorized, returnCode: 5 },
  not_found: { reasonCode: REASON.badCredentials, returnCode: 4 },
  conflict: { reasonCode: REASON.notAuthorized, returnCode: 5 },
  rate_limit: { reasonCode: REASON.connectionRateExceeded, returnCode: UNAVAILABLE },
  too_busy: { reasonCode: REASON.serverBusy, returnCode: UNAVAILABLE },
  internal: { reasonCode: REASON.serverUnavailable, returnCode: UNAVAILABLE },
}

/** The answer to a CONNECT whose credentials, or whose moment, are refused. */
export const connectRefusalOf = ({ code }: Fault): ConnectRefusal =>
  OF_CONNECT[CATEGORY[STATUS[code]]]

/** Why a filter is refused with this code, in a sentence for whoever sees the client's log. */
export const subscriptionLine = (code: number): string =>
  SUBSCRIPTION_LINES.get(code) ?? 'the filter is refused'

const SUBSCRIPTION_LINES: ReadonlyMap<number, string> = new Map([
  [REASON.topicFilterInvalid, 'no topic of the gateway can match the filter: see docs/mqtt.md'],
  [REASON.sharedSubscriptionsNotSupported, 'the gateway has no shared subscriptions'],
  [REASON.notAuthorized, 'the key may not follow that'],
  [REASON.quotaExceeded, 'the client has all the subscriptions, or the Channel all the places'],
])

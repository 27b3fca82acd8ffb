// Writes the data of answers in the names of the wire. Times are Unix milliseconds.

import type {
  Acknowledged,
  DeviceRoute,
  Existence,
  Joined,
  Left,
  ListedSubscribers,
  NamedChannel,
  Registered,
  Synchronised,
  SynchronisedItem,
} from '#domain/administration'
import type { KeptChannel } from '#domain/channel'
import type { Entity, Event, Thing } from '#domain/entity'
import { FAULTS, isFault } from '#domain/fault'
import { deliveryIdOf } from '#domain/feed'
import type { FeedEntry, Pulled } from '#domain/feed'
import type { ChannelId } from '#domain/identity'
import type { Operation } from '#domain/operation'
import { valuesOf } from '#domain/patch'
import type { Page } from '#domain/store-ports'
import type { Submission } from '#domain/submission'

import { parseJson } from './json/json.ts'
import { encodeCursor } from './reading-requests.ts'

/** Named values as they are written into an answer. */
export type Wire = { readonly [name: string]: unknown }

/** The answer to a submission once it is durable. */
export function acceptedToWire({ model, opId, entityId }: AcceptedIds): Wire {
  switch (model) {
    case 'message':
      return { op_id: opId, message_id: entityId }
    case 'event':
      return { op_id: opId, event_id: entityId }
    case 'thing':
      return { op_id: opId, thing_id: entityId }
    case 'cancellation':
      return { op_id: opId, message_id: entityId }
    case 'rule':
      return { op_id: opId, rule_id: entityId }
  }
}

type AcceptedIds = Pick<Submission, 'model' | 'opId' | 'entityId'>

/** A page of a list, with the cursor of the next one unless it is the last. */
export const pageToWire = <Item>(page: Page<Item>, itemToWire: (item: Item) => Wire): Wire => ({
  items: page.items.map((item) => itemToWire(item)),
  ...(page.next !== undefined && { next_cursor: encodeCursor(page.next) }),
})

/** Entries that a device has not acknowledged; `has_more` when others follow. */
export const pulledToWire = (pulled: Pulled): Wire => ({
  items: pulled.items.map((item) => feedEntryToWire(item)),
  has_more: pulled.hasMore,
})

/** One Thing: its fields stand beside thing_id, state, rev, seq, observed_at and changed_at. */
export const thingToWire = (thing: Thing): Wire =>
  entityToWire(thing, { thing_id: thing.id, observed_at: thing.at })

/**
 * One Event: its fields, thing_id among them, stand beside event_id, state, rev, seq,
 * event_time.
 */
export const eventToWire = (event: Event): Wire =>
  entityToWire(event, { event_id: event.id, event_time: event.at })

/** Leaves out removed values; the gateway's own names win over a field of the same name. */
function entityToWire(entity: Entity, own: Wire): Wire {
  const externalIds = valuesOf(entity.externalIds)
  return {
    ...valuesOf(entity.fields),
    attrs: valuesOf(entity.attrs),
    ...(Object.keys(externalIds).length > 0 && { external_ids: externalIds }),
    ...own,
    state: entity.state,
    rev: entity.rev,
    seq: entity.seq,
    changed_at: entity.changedAt,
  }
}

/** One entry of a feed with its payload as JSON. */
export function feedEntryToWire(entry: FeedEntry): Wire {
  return {
    delivery_id: deliveryIdOf(entry.channelId, entry.seq),
    channel_id: entry.channelId,
    seq: entry.seq,
    op_id: entry.opId,
    model: entry.model,
    action: entry.action,
    entity_id: entry.entityId,
    ...(entry.state !== undefined && { state: entry.state }),
    ...(entry.rev !== undefined && { rev: entry.rev }),
    accepted_at: entry.acceptedAt,
    payload: parseJson(entry.payload),
  }
}

/**
 * The record that GET /send_status/{op_id} gives; it expires `statusRetentionMs` after
 * acceptance.
 */
export function operationToWire(operation: Operation, statusRetentionMs: number): Wire {
  const { status, errorCode } = operation
  return {
    op_id: operation.opId,
    status,
    model: operation.model,
    entity_id: operation.entityId,
    accepted_at: operation.acceptedAt,
    updated_at: operation.updatedAt,
    expires_at: operation.acceptedAt + statusRetentionMs,
    ...(status === 'failed' && errorCode !== undefined && { error_code: errorCode }),
  }
}

export function channelInfoToWire({ retention, ...info }: KeptChannel): Wire {
  return {
    channel_id: info.channelId,
    channel_name: info.channelName,
    subscribers: info.subscribers,
    created_at: info.createdAt,
    head_seq: info.headSeq,
    things: info.things,
    open_events: info.openEvents,
    retention: {
      messages_and_events_ms: retention.messagesAndEvents,
      thing_updates_ms: retention.thingUpdates,
      unused_ms: retention.unused,
    },
  }
}

// ---- administration: channels, devices, subscriptions

export const channelIdToWire = (channelId: ChannelId): Wire => ({ channel_id: channelId })

export const channelToWire = ({ channelId, channelName }: NamedChannel): Wire => ({
  channel_id: channelId,
  channel_name: channelName,
})

export const existenceToWire = ({ channelId, exists }: Existence): Wire => ({
  channel_id: channelId,
  exists,
})

export const joinedToWire = (joined: Joined): Wire => ({
  ...channelToWire(joined),
  created: joined.isCreated,
  subscribed: true,
  subscriber_id: joined.subscriberId,
})

export const subscribersToWire = ({ channelId, subscribers }: ListedSubscribers): Wire => ({
  channel_id: channelId,
  subscribers: subscribers.map(
    ({ subscriberId, platform, channelType, subscribedAt, seenAt }): Wire => ({
      subscriber_id: subscriberId,
      platform,
      channel_type: channelType,
      subscribed_at: subscribedAt,
      last_seen_on: dayText(seenAt),
    }),
  ),
})

/** The text of the UTC day of a time: 2026-01-31. */
export const dayText = (unixMs: number): string => new Date(unixMs).toISOString().slice(0, 10)

export const leftToWire = ({ channelId, isRemoved }: Left): Wire => ({
  channel_id: channelId,
  removed: isRemoved,
})

export function synchronisedToWire({ items }: Synchronised): Wire {
  const failed = items.filter(({ outcome }) => isFault(outcome)).length
  return {
    total: items.length,
    success: items.length - failed,
    failed,
    channels: items.map(synchronisedItemToWire),
  }
}

function synchronisedItemToWire({ channelIdText, outcome }: SynchronisedItem): Wire {
  if (!isFault(outcome)) return { ...channelToWire(outcome), subscribed: true }
  return {
    channel_id: channelIdText,
    subscribed: false,
    error: outcome.detail ?? FAULTS[outcome.code],
    error_code: outcome.code,
  }
}

export const registeredToWire = ({ deviceKey, issueReason }: Registered): Wire =>
  issueReason === undefined
    ? { device_key: deviceKey, issued_new_key: false }
    : { device_key: deviceKey, issued_new_key: true, issue_reason: issueReason }

export const deviceRouteToWire = (route: DeviceRoute): Wire => ({
  device_key: route.deviceKey,
  channel_type: route.channelType,
  ...(route.providerToken !== undefined && { provider_token: route.providerToken }),
})

export const acknowledgedToWire = ({ requestedCount, removedCount }: Acknowledged): Wire => ({
  requested_count: requestedCount,
  removed_count: removedCount,
})

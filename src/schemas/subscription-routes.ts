// The routes of subscriptions: those of a device to Channels, and those to one Channel, which its
// owner sees. (decisions.md 7)

import type {
  Joined,
  Left,
  Subscriber,
  Synchronised,
  SynchronisedItem,
} from '#domain/administration'
import { CHANNEL_TYPES } from '#domain/device'
import { FAULTS, fault, isFault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { Preferences } from '#domain/push/preferences'
import { PLATFORMS } from '#domain/push/providers'
import { isRecord } from '#domain/record'

import { CHANNEL_NAME, CREDENTIALS_REQUEST, ID, NAME, NAME_RULE } from './channel-routes.ts'
import { always, readChannelName } from './channel-routes.ts'
import { CREDENTIALS, DEVICE_KEY } from './credentials.ts'
import { EXAMPLES } from './document/examples.ts'
import { ABSENT, eitherOf, given, list, object } from './json-schema.ts'
import { oneOf, requiredText, text, whole } from './json-schema.ts'
import { computed, read, written } from './members.ts'
import type { Wire } from './members.ts'
import { CHANNEL_NAME_FORM, SUBSCRIBER_ID_FORM, trimmed, trimmedOrBlank } from './patterns.ts'
import { PREFERENCES, readPreferences } from './people/preferences.ts'
import { KEYED, OPENING, post, routes } from './route.ts'
import { dayText, isBlank, readChannelId, readHexId } from './values.ts'
import type { SentText } from './values.ts'

export const DEVICE_LABEL = given('string', 'As the device registered; left out without one.')
export const SUBSCRIBER_ID = given('string', 'Names the device in this Channel; it opens nothing.')
const LEFT_DATA = whole({
  ...ID,
  removed: computed(
    given('boolean', 'True when there was a subscription.'),
    ({ isRemoved }: Left) => isRemoved,
  ),
})

// ---- subscriptions of a device

type Target =
  | { readonly kind: 'channel'; readonly channelId: ChannelId }
  | { readonly kind: 'new'; readonly channelName: string }

function readTarget(sent: SentText, sentName: SentText): Answer<Target> {
  const hasId = !isBlank(sent)
  if (hasId === !isBlank(sentName)) return fault('channel_binding_invalid')
  if (hasId) {
    const channelId = readChannelId(sent)
    return isFault(channelId) ? channelId : { kind: 'channel', channelId }
  }
  const channelName = readChannelName(sentName)
  return isFault(channelName) ? channelName : { kind: 'new', channelName }
}

const SUBSCRIBE_REQUEST = eitherOf(
  object(
    {
      device_key: DEVICE_KEY,
      password: CREDENTIALS.password,
      channel_id: read(
        text('The Channel to subscribe to. Exactly one of channel_id and channel_name.'),
        (sent, _field, body: { readonly channel_name?: SentText }) =>
          readTarget(sent, body.channel_name),
        'target',
      ),
      channel_name: text(
        `Creates a Channel of this name and subscribes to it. ${NAME_RULE}`,
        trimmedOrBlank(CHANNEL_NAME_FORM),
      ),
      notify: read({ ...PREFERENCES, type: ['object', 'null'] }, (sent: unknown, field) =>
        sent ? readPreferences(sent, field) : undefined,
      ),
    },
    ['device_key', 'password'],
  ),
  [
    {
      ...object({ channel_id: CREDENTIALS.channel_id, channel_name: ABSENT }, ['channel_id']),
      title: 'Existing Channel',
    },
    {
      ...object({ channel_id: ABSENT, channel_name: CHANNEL_NAME }, ['channel_name']),
      title: 'New Channel',
    },
  ],
)

export const CHANNELS_MAX = 2_000
/**
 * Bytes of a body with CHANNELS_MAX items: 512 for each, enough for the longest password with every
 * character as a JSON escape.
 */
const SYNC_BODY_BYTES_MAX = CHANNELS_MAX * 512

export interface SyncItem {
  /** channel_id as it was sent, for the answer; empty when it was no text. */
  readonly channelIdText: string
  /** The item itself, a request of CREDENTIALS_REQUEST. A bad one fails alone. */
  readonly sent: unknown
}

const syncItemOf = (sent: unknown): SyncItem => ({
  channelIdText: isRecord(sent) && typeof sent['channel_id'] === 'string' ? sent['channel_id'] : '',
  sent,
})

const LISTED_CHANNELS = read(
  {
    type: 'array',
    maxItems: CHANNELS_MAX,
    items: {
      description: 'An object with channel_id and password. An invalid item fails alone.',
      examples: [{ channel_id: EXAMPLES.channel_id, password: EXAMPLES.password }],
    },
    description: `The Channels to be subscribed to: up to ${CHANNELS_MAX}, each with password.`,
  },
  (sent, field) =>
    sent.length > CHANNELS_MAX ? fault('channels_limit_exceeded', { field }) : sent.map(syncItemOf),
  'items',
)

const SYNCED = object(
  {
    channel_id: given('string', 'As it was sent, or its canonical form.'),
    ...NAME,
    subscribed: given('boolean', 'True when the device is subscribed now.'),
    created: given('boolean', 'Always false: sync creates no Channel.'),
    error: given('string', 'The error, for a reader.'),
    error_code: given('string', 'The error, for a program.'),
  },
  ['channel_id', 'subscribed'],
)

const failedIn = ({ items }: Synchronised): number =>
  items.filter(({ outcome }) => isFault(outcome)).length

function syncedToWire({ channelIdText, outcome }: SynchronisedItem): Wire {
  if (!isFault(outcome)) {
    const { channelId, channelName } = outcome
    return { channel_id: channelId, channel_name: channelName, subscribed: true }
  }
  return {
    channel_id: channelIdText,
    subscribed: false,
    error: outcome.detail ?? FAULTS[outcome.code],
    error_code: outcome.code,
  }
}

export const SUBSCRIPTION = routes('Channels', 'Channel', {
  subscribe: post('/channel/subscribe', 'Subscribe a device to a Channel, or to a new one', {
    operation: 'subscribeDevice',
    request: SUBSCRIBE_REQUEST,
    data: whole({
      ...ID,
      ...NAME,
      created: computed(
        given('boolean', 'True when the request created the Channel.'),
        ({ isCreated }: Joined) => isCreated,
      ),
      subscribed: always('Always true.'),
      subscriber_id: SUBSCRIBER_ID,
    }),
    codes: [
      ...KEYED,
      'device_key_not_found',
      'channel_binding_invalid',
      'invalid_channel_name',
      'channel_subscriber_limit_exceeded',
    ],
  }),
  notify: post('/channel/notify', 'Choose which pushes of a Channel reach a device', {
    operation: 'setPreferences',
    request: whole({
      device_key: DEVICE_KEY,
      channel_id: CREDENTIALS.channel_id,
      notify: read(PREFERENCES, readPreferences),
    }),
    data: whole({ ...ID, notify: written(PREFERENCES, (notify: Preferences) => notify) }),
    codes: ['device_key_not_found', 'invalid_channel_id', 'channel_not_found'],
  }),
  unsubscribe: post('/channel/unsubscribe', 'Unsubscribe a device from a Channel', {
    operation: 'unsubscribeDevice',
    request: whole({ device_key: DEVICE_KEY, channel_id: CREDENTIALS.channel_id }),
    data: LEFT_DATA,
    codes: ['device_key_not_found', 'invalid_channel_id'],
  }),
  synchronise: post('/channel/sync', 'Make the subscriptions of a device equal to a list', {
    operation: 'synchroniseSubscriptions',
    request: whole({ device_key: DEVICE_KEY, channels: LISTED_CHANNELS }),
    bytesMax: SYNC_BODY_BYTES_MAX,
    hasPasswords: true,
    data: whole({
      total: computed(
        given('integer', 'The number of channels in the request.'),
        ({ items }: Synchronised) => items.length,
      ),
      success: computed(
        given('integer', 'The number of those to which the device is subscribed now.'),
        (synchronised: Synchronised) => synchronised.items.length - failedIn(synchronised),
      ),
      failed: computed(
        given(
          'integer',
          'The number that failed; with 0, the device leaves channels that are not listed.',
        ),
        failedIn,
      ),
      channels: computed(
        list(
          written(SYNCED, syncedToWire),
          'One result for each listed channel, in the same order.',
        ),
        ({ items }: Synchronised) => items,
      ),
    }),
    codes: ['device_key_not_found', 'channels_limit_exceeded'],
  }),
})

// ---- the devices that are subscribed, for the owner of the Channel

export const SUBSCRIBER = routes('Channels', 'Subscriber', {
  list: post('/channel/subscriber/list', 'List the devices that are subscribed to a Channel', {
    operation: 'listSubscribers',
    request: CREDENTIALS_REQUEST,
    data: whole({
      ...ID,
      subscribers: list(
        object(
          {
            subscriber_id: SUBSCRIBER_ID,
            label: DEVICE_LABEL,
            platform: oneOf(PLATFORMS, 'As the device registered.'),
            channel_type: oneOf(CHANNEL_TYPES, 'The route to the device.'),
            subscribed_at: given('integer', 'Unix milliseconds.'),
            last_seen_on: computed(
              given('string', 'The UTC day of its last session or pull, as 2026-01-31.'),
              ({ seenAt }: Pick<Subscriber, 'seenAt'>) => dayText(seenAt),
            ),
          },
          ['subscriber_id', 'platform', 'channel_type', 'subscribed_at', 'last_seen_on'],
        ),
        'The one that subscribed first comes first.',
      ),
    }),
    codes: OPENING,
  }),
  remove: post('/channel/subscriber/remove', 'Unsubscribe another device from a Channel', {
    request: whole({
      ...CREDENTIALS,
      subscriber_id: read(
        requiredText('The subscriber_id of the device.', trimmed(SUBSCRIBER_ID_FORM)),
        readHexId,
      ),
    }),
    data: LEFT_DATA,
    codes: OPENING,
  }),
})

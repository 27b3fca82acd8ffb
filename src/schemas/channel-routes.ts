// The routes of Channels. (decisions.md 7)

import type { Retention } from '#domain/channel'
import { fault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'

import type { Preferences } from '#domain/push/preferences'

import { CREDENTIALS, readingRequest } from './credentials.ts'
import { given, named, object, requiredText, whole } from './json-schema.ts'
import { computed, read, written } from './members.ts'
import { CHANNEL_NAME_FORM, trimmed } from './patterns.ts'
import { PREFERENCES } from './people/preferences.ts'
import { KEYED, OPENING, get, post, routes } from './route.ts'
import { isSafeText } from '#domain/record'
import type { SentText } from './values.ts'

export const NAME_RULE = '1 to 128 characters without control characters; not unique.'

/** Counted in characters, not bytes: a letter of any script is one. */
export function readChannelName(sent: SentText): Answer<string> {
  const name = sent?.trim() ?? ''
  const isWithin = name !== '' && name.length <= 256 && Array.from(name).length <= 128
  if (isWithin && !/\p{Cc}/u.test(name) && isSafeText(name)) return name
  return fault('invalid_channel_name', { field: 'channel_name' })
}

export const CHANNEL_NAME = read(
  requiredText(NAME_RULE, trimmed(CHANNEL_NAME_FORM)),
  readChannelName,
)

export const CREDENTIALS_REQUEST = whole(CREDENTIALS)

export const ID = { channel_id: given('string', 'The Channel: 26 upper-case characters.') } as const
export const NAME = { channel_name: given('string', 'The name of the Channel.') } as const
const CHANNEL_DATA = named('Channel', whole({ ...ID, ...NAME }))

/** A member that is always true, as a confirmation. */
export const always = (description: string) => computed(given('boolean', description), () => true)

export const CHANNEL = routes('Channels', 'Channel', {
  create: post('/channel/create', 'Create a Channel', {
    request: whole({ channel_name: CHANNEL_NAME, password: CREDENTIALS.password }),
    data: CHANNEL_DATA,
    codes: ['invalid_channel_name', 'password_required', 'invalid_password'],
  }),
  rename: post('/channel/rename', 'Rename a Channel', {
    request: whole({ ...CREDENTIALS, channel_name: CHANNEL_NAME }),
    data: CHANNEL_DATA,
    codes: OPENING,
  }),
  changePassword: post('/channel/password', 'Change the password of a Channel', {
    operation: 'changeChannelPassword',
    request: object(
      {
        ...CREDENTIALS,
        new_password: CREDENTIALS.password,
        keep_keys: read(
          {
            type: ['boolean', 'null'],
            description: 'True to keep the keys of the Channel; otherwise they are void.',
          },
          (sent) => sent === true,
          'keepsKeys',
        ),
      },
      ['channel_id', 'password', 'new_password'],
    ),
    data: whole({ channel_id: computed(ID.channel_id, (channelId: ChannelId) => channelId) }),
    codes: OPENING,
  }),
  delete: post('/channel/delete', 'Delete a Channel', {
    request: CREDENTIALS_REQUEST,
    data: whole({ deleted: always('Always true.') }),
    codes: OPENING,
  }),
  info: post('/channel/info', 'Get the name and the counts of a Channel', {
    operation: 'getChannel',
    request: readingRequest({}, []),
    data: object(
      {
        ...ID,
        ...NAME,
        subscribers: given('integer', 'Devices that are subscribed.'),
        created_at: given('integer', 'Unix milliseconds.'),
        head_seq: given('integer', 'The last seq of the feed; 0 before the first entry.'),
        things: given('integer', 'Things that are active or archived.'),
        open_events: given('integer', 'Events that are open.'),
        retention: written(
          {
            ...whole({
              messages_and_events_ms: given('integer', 'Messages, and Events with their updates.'),
              thing_updates_ms: given('integer', 'Updates of Things; their last state stays.'),
              unused_ms: given('integer', 'The Channel itself, while nobody uses it.'),
            }),
            description: 'For how long the gateway keeps what the Channel holds, in milliseconds.',
          },
          ({ messagesAndEvents, thingUpdates, unused }: Retention) => ({
            messages_and_events_ms: messagesAndEvents,
            thing_updates_ms: thingUpdates,
            unused_ms: unused,
          }),
        ),
        notify: written(PREFERENCES, (notify: Preferences) => notify),
      },
      [
        'channel_id',
        'channel_name',
        'subscribers',
        'created_at',
        'head_seq',
        'things',
        'open_events',
        'retention',
      ],
    ),
    codes: KEYED,
  }),
  exists: get('/channel/exists', 'Check whether a Channel exists', {
    operation: 'channelExists',
    query: whole({ channel_id: CREDENTIALS.channel_id }),
    data: whole({ ...ID, exists: given('boolean', 'Whether there is such a Channel.') }),
    codes: ['channel_id_required', 'invalid_channel_id'],
  }),
})

// The routes of channel keys: each key stands for a channel and its password.

import type { ChannelId } from '#domain/identity'
import type { Acceptance } from '#src/acceptance/acceptance'
import {
  KEY_DATA,
  KEY_LIST_DATA,
  KEY_REQUEST,
  KEY_REVOKE_DATA,
  KEY_REVOKE_REQUEST,
  listedKeysToWire,
  madeKeyToWire,
} from '#src/schemas/channel-key-requests'
import { CREDENTIALS_REQUEST } from '#src/schemas/channel-schemas'
import { OPENING } from '#src/schemas/route'
import { envelope } from './answerer.ts'
import { post } from './row.ts'
import type { Row } from './row.ts'

const tag = 'Channels'
const credentials = 'body'

/** The rows of /channel/key. */
export const channelKeyRows = ({ keys }: Acceptance): readonly Row[] => [
  post('/channel/key', {
    credentials,
    handle: (request) => keys.create(request.body, request),
    answerer: envelope(madeKeyToWire),
    about: {
      tag,
      summary: 'Make a key that stands for channel_id and password on compatibility routes',
      request: KEY_REQUEST,
      data: KEY_DATA,
      codes: [...OPENING, 'channel_keys_limit_exceeded'],
    },
  }),
  post('/channel/key/list', {
    credentials,
    handle: (request) => keys.list(request.body, request),
    answerer: envelope(listedKeysToWire),
    about: {
      tag,
      summary: 'List the keys of a Channel',
      request: CREDENTIALS_REQUEST,
      data: KEY_LIST_DATA,
      codes: OPENING,
    },
  }),
  post('/channel/key/revoke', {
    credentials,
    handle: (request) => keys.revoke(request.body, request),
    answerer: envelope((channelId: ChannelId) => ({ channel_id: channelId, revoked: true })),
    about: {
      tag,
      summary: 'Revoke a key',
      request: KEY_REVOKE_REQUEST,
      data: KEY_REVOKE_DATA,
      codes: [...OPENING, 'channel_key_not_found'],
    },
  }),
]

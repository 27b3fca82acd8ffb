// The frames of a session as schemas: those of the gateway are written by them, and the AsyncAPI
// document is made of them. A delivery is written by frames.ts, from the text of its payload.

import { FAULTS } from '#domain/fault'
import { exactly, DEVICE_KEY_FORM } from '#src/schemas/patterns'
import {
  DEVICE_FRAME_BYTES_MAX,
  GAP_REASONS,
  GOAWAY_REASONS,
  HELLO_CURSORS_MAX,
  PROTOCOL,
  UNSUBSCRIBED_REASONS,
  WELCOME_CHANNELS_MAX,
} from '#src/schemas/frames'
import type { DeviceFrame, Gap, GatewayFrame, GatewayNotice, PingMark } from '#src/schemas/frames'
import { given, list, named, object, oneOf, whole } from '#src/schemas/json-schema'
import type { JsonSchema, ObjectSchema } from '#src/schemas/json-schema'
import { computed, writerOf } from '#src/schemas/members'
import type { Wire } from '#src/schemas/members'
import { FEED_ENTRY } from '#src/schemas/reading-routes'

const { channel_id, seq } = FEED_ENTRY.properties

const MARK = {
  t: computed(
    {
      oneOf: [{ type: 'string' }, { type: 'number' }],
      description: 'A mark: a pong repeats that of its ping.',
    },
    ({ mark }: { readonly mark: PingMark }) => mark,
  ),
} as const

const POSITION = {
  channel_id,
  channel_name: given('string', 'The name of the Channel.'),
  head_seq: given('integer', 'The last seq of its feed.'),
  cursor: given('integer', 'Deliveries begin behind this seq.'),
} as const

/** A frame: what its type is, what it is for, and its members beside the type. */
export interface FrameForm {
  readonly type: string
  readonly summary: string
  readonly members: ObjectSchema
}

const form = <const Type extends string, const Members extends ObjectSchema>(
  type: Type,
  summary: string,
  members: Members,
) => ({ type, summary, members })

/** The frames of a device, by their kinds. */
export const DEVICE_FRAMES = {
  hello: form(
    'hello',
    'Begins the session, at most 8 seconds behind the beginning of the connection',
    object(
      {
        protocol: oneOf([PROTOCOL], 'The version of the protocol.'),
        device_key: {
          type: 'string',
          pattern: exactly(DEVICE_KEY_FORM),
          description: 'The device. A secret.',
        },
        gateway_token: given('string', 'The gateway token, where it is not in the upgrade.'),
        cursors: {
          type: 'object',
          maxProperties: HELLO_CURSORS_MAX,
          additionalProperties: { type: 'integer', minimum: 0 },
          description: 'By channel_id the last seq that the device has.',
        },
        client: given('string', 'The name of the software: up to 128 characters.'),
      },
      ['device_key'],
    ),
  ),
  ack: form('ack', 'Acknowledges everything up to a seq', whole({ channel_id, seq })),
  ping: form('ping', 'Asks for a pong', object(MARK, [])),
  pong: form('pong', 'Answers a ping', object(MARK, [])),
} satisfies Readonly<Record<DeviceFrame['kind'], FrameForm>>

/** The frames of the gateway, by their kinds. */
export const GATEWAY_FRAMES = {
  welcome: form(
    'welcome',
    'Answers the hello',
    whole({
      session_id: given('string', 'The session, in logs.'),
      server_time: given('integer', 'Unix milliseconds.'),
      heartbeat_ms: given('integer', 'Milliseconds between pings of the gateway.'),
      idle_ms: given('integer', 'Milliseconds of silence after which the connection is dead.'),
      max_frame_bytes: given('integer', 'The bytes of a frame of the gateway.'),
      channels: list(
        named('ChannelPosition', whole(POSITION)),
        `Up to ${WELCOME_CHANNELS_MAX} subscriptions; others follow as subscribed.`,
      ),
    }),
  ),
  deliver: form(
    'deliver',
    'An entry of a feed; one whose seq is not greater than the last one is a repeat',
    object(
      {
        ...FEED_ENTRY.properties,
        replay: given('boolean', 'True when it was read from the feed to catch up.'),
      },
      FEED_ENTRY.required,
    ),
  ),
  'caught-up': form('caught_up', 'From here on entries are live', whole({ channel_id, seq })),
  gap: form(
    'gap',
    'Entries that are not delivered',
    object(
      {
        channel_id,
        from: given('integer', 'The first seq of them.'),
        to: given('integer', 'The last seq of them.'),
        reason: oneOf(GAP_REASONS, 'They are gone, or the cursor was ahead of the feed.'),
        restart: computed(
          given('boolean', 'True to forget the Things of the Channel; all follow.'),
          ({ restart }: Gap) => restart || undefined,
        ),
      },
      ['channel_id', 'from', 'to', 'reason'],
    ),
  ),
  subscribed: form(
    'subscribed',
    'A Channel that the session has from here on, or the new name of one that it has',
    whole(POSITION),
  ),
  unsubscribed: form(
    'unsubscribed',
    'A Channel that the session has no longer',
    whole({ channel_id, reason: oneOf(UNSUBSCRIBED_REASONS, 'Why.') }),
  ),
  ping: DEVICE_FRAMES.ping,
  pong: DEVICE_FRAMES.pong,
  error: form(
    'error',
    'What is wrong with the device or its frame',
    whole({
      code: given('string', `One of ${Object.keys(FAULTS).length} codes, or a later one.`),
      message: given('string', 'The error, for a reader.'),
    }),
  ),
  goaway: form(
    'goaway',
    'The gateway ends the session',
    object(
      {
        reason: oneOf(GOAWAY_REASONS, 'Why; after replaced do not come back.'),
        retry_after_ms: given('integer', 'Milliseconds to wait before the next session.'),
      },
      ['reason'],
    ),
  ),
} satisfies Readonly<Record<GatewayFrame['kind'], FrameForm>>

/** The schema of the whole frame. */
export const frameSchema = ({ type, members }: FrameForm): JsonSchema => ({
  type: 'object',
  properties: { type: { type: 'string', const: type }, ...members.properties },
  required: ['type', ...members.required],
})

/** What the AsyncAPI document says of the bytes of frames. */
export const DEVICE_FRAME_RULE = `A frame of a device has at most ${DEVICE_FRAME_BYTES_MAX} bytes.`

const WRITERS: ReadonlyMap<string, (notice: never) => Wire> = new Map(
  Object.entries(GATEWAY_FRAMES).map(([kind, { members }]) => [kind, writerOf(members)]),
)

/** The text of every frame of the gateway but deliveries. */
export function encodeNotice(notice: GatewayNotice): string {
  const { type } = GATEWAY_FRAMES[notice.kind]
  return JSON.stringify({ type, ...WRITERS.get(notice.kind)?.(notice as never) })
}

// The route of a channel's mappings.

import type { UnmappedTopic } from '#domain/mqtt/mappings'
import type { ChannelId } from '#domain/identity'
import { ID } from '#src/schemas/channel-routes'
import { CREDENTIALS } from '#src/schemas/credentials'
import { given, list, named, object, whole } from '#src/schemas/json-schema'
import { read } from '#src/schemas/members'
import { KEYED, post, routes } from '#src/schemas/route'
import { readMappings } from './mapping.ts'
import type { Mapping } from './mapping.ts'
import { MAPPING, MAPPINGS_MAX } from './mapping-schemas.ts'

/** The mappings of a channel, and the newest topics that nothing takes. */
export interface ChannelMappings {
  readonly channelId: ChannelId
  readonly mappings: readonly Mapping[]
  readonly unmapped: readonly UnmappedTopic[]
}

const UNMAPPED = named(
  'UnmappedTopic',
  whole({
    topic: given('string', 'The topic.'),
    at: given('integer', 'When it was last published to, in Unix milliseconds.'),
  }),
)

export const MAPPINGS = routes('Channels', 'Mappings', {
  use: post('/channel/mappings', 'Set or read what the topics of a Channel become over MQTT', {
    request: object(
      {
        ...CREDENTIALS,
        mappings: read(
          {
            type: ['array', 'null'],
            maxItems: MAPPINGS_MAX,
            items: MAPPING,
            description:
              'Replaces the mappings of the Channel; without this they stay. The first one whose ' +
              'topic fits is used. docs/mqtt-devices.md has examples.',
          },
          (sent) => (sent ? readMappings(sent) : undefined),
        ),
      },
      ['channel_id', 'password'],
    ),
    data: whole({
      ...ID,
      mappings: list(MAPPING, 'The mappings, in their order.'),
      unmapped: list(UNMAPPED, 'The ten newest topics that nothing takes, newest first.'),
    }),
    codes: KEYED,
  }),
})

// The route of a channel's mappings.

import { CREDENTIALS } from '#src/schemas/credentials'
import { given, list, object, oneOf, whole } from '#src/schemas/json-schema'
import { KEYED, routes } from '#src/schemas/route'
import type { ValueOf } from '#src/schemas/schema-types'

export const MAPPINGS_MAX = 100
export const MAPPING_BYTES_MAX = 512
export const KINDS = ['attrs', 'message'] as const

const TEXT = { type: 'string', maxLength: MAPPING_BYTES_MAX } as const

const MAPPING = object(
  {
    topic: {
      ...TEXT,
      description: 'Topics: +name stands for one level, and at most once #name for several.',
    },
    thing: { ...TEXT, description: 'The thing_id, with levels of the topic in braces.' },
    time: { ...TEXT, description: 'Members that lead to the time in JSON, with dots between.' },
    prefix: { ...TEXT, description: 'Stands before the name of each attr.' },
    kind: oneOf(KINDS, 'attrs of the Thing, which is the default, or a message about it.'),
  },
  ['topic', 'thing'],
)

/** A mapping as its owner sends it and as it is kept. */
export type MappingFields = ValueOf<typeof MAPPING>
export const MAPPING_MEMBERS: readonly string[] = Object.keys(MAPPING.properties)

const UNMAPPED = whole({
  topic: given('string', 'The topic.'),
  at: given('integer', 'When it was last published to, in Unix milliseconds.'),
})

export const MAPPING_ROUTES = routes('Channels', {
  '/channel/mappings': {
    summary: 'Set or read what the topics of a Channel become over MQTT',
    request: object(
      {
        ...CREDENTIALS,
        mappings: {
          type: ['array', 'null'],
          maxItems: MAPPINGS_MAX,
          items: MAPPING,
          description:
            'Replaces the mappings of the Channel; without this they stay. The first one whose ' +
            'topic fits is used. docs/mqtt-devices.md has examples.',
        },
      },
      ['channel_id', 'password'],
    ),
    data: whole({
      channel_id: given('string', 'The Channel: 26 upper-case characters.'),
      mappings: list(MAPPING, 'The mappings, in their order.'),
      unmapped: list(UNMAPPED, 'The ten newest topics that nothing takes, newest first.'),
    }),
    codes: KEYED,
  },
})

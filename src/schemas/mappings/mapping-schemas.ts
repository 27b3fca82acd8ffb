// The form of a mapping on the wire.

import { ANY_TEXT, TOPIC_PATTERN, exactly } from '#src/schemas/patterns'
import { named, object, oneOf } from '#src/schemas/json-schema'
import type { ValueOf } from '#src/schemas/schema-types'

export const MAPPINGS_MAX = 100
export const MAPPING_BYTES_MAX = 512
export const KINDS = ['attrs', 'message'] as const

/** JSON Schema counts characters: beyond ASCII each may take four bytes. */
const TEXT = {
  type: 'string',
  pattern: ANY_TEXT,
  anyOf: [
    { type: 'string', pattern: `^[\\u0001-\\u007f]{0,${MAPPING_BYTES_MAX}}$` },
    { type: 'string', maxLength: MAPPING_BYTES_MAX / 4 },
  ],
} as const

export const MAPPING = named('Mapping', {
  ...object(
    {
      topic: {
        ...TEXT,
        pattern: TOPIC_PATTERN,
        description:
          'Topics: +name stands for one level, and at most once #name for several. ' +
          'No name stands twice.',
      },
      thing: {
        ...TEXT,
        pattern: exactly('(?:[A-Za-z0-9_:-]|\\{\\w+\\})+'),
        description: 'The thing_id, with levels of the topic in braces.',
      },
      time: { ...TEXT, description: 'Members that lead to the time in JSON, with dots between.' },
      prefix: { ...TEXT, description: 'Stands before the name of each attr.' },
      kind: oneOf(KINDS, 'attrs of the Thing, which is the default, or a message about it.'),
    },
    ['topic', 'thing'],
  ),
  additionalProperties: false,
})

/** A mapping as its owner sends it and as it is kept. */
export type MappingFields = ValueOf<typeof MAPPING>
export const MAPPING_MEMBERS: readonly string[] = Object.keys(MAPPING.properties)

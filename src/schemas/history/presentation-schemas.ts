// The form of a channel's presentation on the wire.

import { named, object, only, whole } from '#src/schemas/json-schema'
import { ANY_TEXT, NOT_BLANK } from '#src/schemas/patterns'

export const PRESENTATION_MAX = 64
export const PRESENTED_ATTRS_MAX = 256
export const FACE_TEXT_BYTES_MAX = 64
/** Of a name of an attr, and of the beginning of a thing_id or a tag. */
export const NAME_BYTES_MAX = 128
export const DECIMALS_MAX = 6
export const ORDER_MAX = 1_000_000

const text = (description: string, pattern = NOT_BLANK) =>
  ({ type: 'string', pattern, maxLength: FACE_TEXT_BYTES_MAX, description }) as const
const number = (description: string) => ({ type: 'number', description }) as const
const whose = (description: string) =>
  ({ type: 'string', pattern: NOT_BLANK, maxLength: NAME_BYTES_MAX, description }) as const

export const ATTR_FACE = named(
  'AttrFace',
  only(
    object(
      {
        label: text('The name that people read.'),
        unit: text('The unit, as °C; empty for none.', ANY_TEXT),
        min: number('The lowest value that is usual.'),
        max: number('The highest value that is usual.'),
        decimals: {
          type: 'integer',
          minimum: 0,
          maximum: DECIMALS_MAX,
          description: 'Places behind the decimal point.',
        },
        on: text('The word for true.'),
        off: text('The word for false.'),
        order: {
          type: 'integer',
          minimum: -ORDER_MAX,
          maximum: ORDER_MAX,
          description: 'Its place among the attrs; the lowest comes first.',
        },
        hidden: { type: 'boolean', description: 'True for an attr that is not shown.' },
      },
      [],
    ),
  ),
)

export const PRESENTED = named(
  'PresentedThings',
  only(
    whole({
      things: {
        ...only(
          object(
            {
              prefix: whose('Things whose id begins with it.'),
              tag: whose('Things with this tag.'),
            },
            [],
          ),
        ),
        description: 'Those that it is for; {} for all Things.',
      },
      attrs: {
        type: 'object',
        maxProperties: PRESENTED_ATTRS_MAX,
        additionalProperties: ATTR_FACE,
        description: 'By the names of attrs.',
      } as const,
    }),
  ),
)

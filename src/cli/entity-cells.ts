// The columns of a list of Events or Things.

import type { EventRecord, ThingRecord } from '#src/client/bodies'
import { pairsIn } from './deliveries/delivery-line.ts'
import { dateText } from './facts.ts'

/** The headings after the heading of the id. */
export const ENTITY_HEADINGS = ['STATE', 'CHANGED', 'TITLE', 'ATTRS'] as const

/** The cells under those headings. */
export const entityCells = ({
  state,
  changed_at: changedAt,
  title,
  attrs,
}: EventRecord | ThingRecord): readonly string[] => [
  state,
  dateText(changedAt),
  typeof title === 'string' ? title : '',
  pairsIn(attrs).join('  '),
]

// A thing as the store gives it.

import type { Thing } from '#domain/entity'
import { NO_FIELDS } from '#domain/patch'
import { NOW_MS } from '#test/support/making'
import { timedOf } from '#test/support/submissions'

/** An active thing, changed three times; its last change has seq 9. */
export const PUMP: Thing = {
  id: 'pump',
  state: 'active',
  stateAt: NOW_MS,
  rev: 3,
  seq: 9,
  at: NOW_MS,
  changedAt: NOW_MS,
  fields: timedOf({ title: ['Pump', NOW_MS] }, NOW_MS),
  attrs: timedOf({ rpm: [900, NOW_MS] }, NOW_MS),
  externalIds: NO_FIELDS,
}

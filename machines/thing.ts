// The lifecycle of a Thing. (decisions.md 4)

import { createMachine } from 'xstate'

import type { ThingState } from '#domain/entity'
import type { ThingAction } from '#domain/submission'
import { tableOf } from './table.ts'

// Only an update makes an archived Thing active again: its sensor reports once more.
const live = { update: 'active', archive: 'archived', delete: 'deleted' }

export const thingMachine = createMachine({
  id: 'thing',
  initial: 'absent',
  states: {
    absent: { on: { create: 'active', ...live } },
    active: { on: live },
    archived: { on: live },
    deleted: {},
  },
})

const table = tableOf(thingMachine)

/**
 * The state after an action; undefined when the lifecycle refuses it. `absent` stands for no Thing.
 */
export function nextThingState(
  state: ThingState | 'absent',
  action: ThingAction,
): ThingState | undefined {
  return table.get(state)?.get(action) as ThingState | undefined
}

// Decisions that have one change at most, with its parts beside the record.

import * as machine from '#machines/decide'
import type { Change } from '#machines/decide'
import type { Operation } from '#domain/operation'

export interface Decision extends Partial<Pick<Change, 'entry' | 'late' | 'thing' | 'event'>> {
  readonly operation: Operation
  readonly liveThings: number
  readonly openEvents: number
}

export function single({ operation, changes }: machine.Decision): Decision {
  if (changes.length > 1) throw new Error('more than one change')
  return { operation, ...(changes[0] ?? { liveThings: 0, openEvents: 0 }) }
}

export const decideMessage = (...parameters: Parameters<typeof machine.decideMessage>) =>
  single(machine.decideMessage(...parameters))

export const decideThing = (...parameters: Parameters<typeof machine.decideThing>) =>
  single(machine.decideThing(...parameters))

export const decideEvent = (...parameters: Parameters<typeof machine.decideEvent>) =>
  single(machine.decideEvent(...parameters))

export const refusal = (...parameters: Parameters<typeof machine.refusal>) =>
  single(machine.refusal(...parameters))

// A lifecycle by the table of decisions.md 4: each row goes through the machine and through a
// decision.

import test from 'ava'

import type { Entity } from '#domain/entity'
import type { Rules } from '#machines/decide'
import type { Decision } from '#test/support/single-decision'

/** The entities whose lifecycle it is, as the machines know them. */
export interface Kind<State extends string, Action extends string> {
  /** The name in titles. */
  readonly name: string
  readonly next: (state: State | 'absent', action: Action) => State | undefined
  /** Decides a submission with this title at this time. */
  readonly decide: (
    submission: { readonly action: Action; readonly at: number; readonly title: string },
    kept: Entity<State> | undefined,
  ) => Decision
  readonly entityOf: (decision: Decision) => Entity<State> | undefined
  /** The actions that bring an absent entity into each state. */
  readonly makers: Readonly<Record<State, Action>>
  readonly refusal: string
  /** The sum that counts the entities in these states. */
  readonly counted: { readonly by: 'openEvents' | 'liveThings'; readonly states: readonly string[] }
}

export const RULES: Rules & { readonly headSeq: number } = { headSeq: 7, endedLifeMs: 1_000_000 }

/** Declares a test for each row; `next` is the state reached, or the refusal of the kind. */
export function testLifecycle<State extends string, Action extends string>(
  kind: Kind<State, Action>,
  rows: readonly (readonly [state: State | 'absent', action: Action, next: string])[],
): void {
  const { counted, refusal } = kind
  const countIn = (state: string): number => (counted.states.includes(state) ? 1 : 0)
  const entityIn = (state: State | 'absent'): Entity<State> | undefined => {
    if (state === 'absent') return undefined
    const submission = { action: kind.makers[state], at: 1, title: 'first' }
    return kind.entityOf(kind.decide(submission, undefined))
  }
  for (const [state, action, next] of rows) {
    test(`${kind.name} that is ${state} answers ${action} with ${next}`, (t) => {
      const isRefused = next === refusal
      const reached: string | undefined = kind.next(state, action)
      t.is(reached, isRefused ? undefined : next)

      const decision = kind.decide({ action, at: 2, title: 'second' }, entityIn(state))
      const { operation, entry, openEvents, liveThings } = decision
      const sums = { openEvents: 0, liveThings: 0 }
      if (isRefused) {
        t.like(operation, { status: 'failed', errorCode: refusal })
        t.is(entry, undefined)
        t.is(kind.entityOf(decision), undefined)
        t.deepEqual({ openEvents, liveThings }, sums)
        return
      }
      t.is(operation.status, 'sent')
      t.like(kind.entityOf(decision), { state: next })
      t.like(entry, { state: next, seq: 8, rev: state === 'absent' ? 1 : 2 })
      const change = countIn(next) - countIn(state)
      t.deepEqual({ openEvents, liveThings }, { ...sums, [counted.by]: change })
    })
  }
}

// Method: the table of decisions.md 4, one row a line, through the lifecycle and through a
// decision.

import test from 'ava'

import type { Thing } from '#domain/entity'
import type { ThingAction } from '#domain/submission'
import { decideThing } from '#machines/decide'
import { nextThingState } from '#machines/thing'
import { thing } from '#test/support/submissions'

const RULES = { headSeq: 7, endedLifeMs: 1_000_000 }

type State = 'absent' | 'active' | 'archived' | 'deleted'
const rows: readonly (readonly [state: State, action: ThingAction, next: string])[] = [
  ['absent', 'create', 'active'],
  ['absent', 'update', 'active'],
  ['absent', 'archive', 'archived'],
  ['absent', 'delete', 'deleted'],
  ['active', 'create', 'thing_deleted'],
  ['active', 'update', 'active'],
  ['active', 'archive', 'archived'],
  ['active', 'delete', 'deleted'],
  ['archived', 'create', 'thing_deleted'],
  ['archived', 'update', 'active'],
  ['archived', 'archive', 'archived'],
  ['archived', 'delete', 'deleted'],
  ['deleted', 'create', 'thing_deleted'],
  ['deleted', 'update', 'thing_deleted'],
  ['deleted', 'archive', 'thing_deleted'],
  ['deleted', 'delete', 'thing_deleted'],
]

const MAKERS = { active: 'create', archived: 'archive', deleted: 'delete' } as const

/** A Thing in a state, as decisions made it. */
function thingThatIs(state: State): Thing | undefined {
  if (state === 'absent') return undefined
  const maker = thing(MAKERS[state], 't', { fields: { title: 'first' } })
  return decideThing(maker, undefined, RULES).thing
}

const liveIn = (state: string): number => (state === 'active' || state === 'archived' ? 1 : 0)

for (const [state, action, next] of rows) {
  test(`a Thing that is ${state} answers ${action} with ${next}`, (t) => {
    const isRefused = next === 'thing_deleted'
    const reached: string | undefined = nextThingState(state, action)
    t.is(reached, isRefused ? undefined : next)

    const submission = thing(action, 't', { at: 2, fields: { title: 'second' } })
    const decision = decideThing(submission, thingThatIs(state), RULES)
    if (isRefused) {
      t.is(decision.operation.status, 'failed')
      t.is(decision.operation.errorCode, 'thing_deleted')
      t.is(decision.entry, undefined)
      t.is(decision.thing, undefined)
      t.is(decision.liveThings, 0)
      return
    }
    t.is(decision.operation.status, 'sent')
    t.like(decision.thing, { state: next })
    t.is(decision.entry?.state, next)
    t.is(decision.entry?.seq, 8)
    t.is(decision.entry?.rev, state === 'absent' ? 1 : 2)
    t.is(decision.liveThings, liveIn(next) - liveIn(state))
    t.is(decision.openEvents, 0)
  })
}

test('a reading from before the archiving fills in and leaves the Thing archived', (t) => {
  const archived = decideThing(thing('archive', 't', { at: 10 }), undefined, RULES).thing
  const late = thing('update', 't', { at: 9, attrs: { door: 'open' } })
  const decision = decideThing(late, archived, RULES)
  t.is(decision.thing?.state, 'archived')
  t.deepEqual(JSON.parse(decision.entry?.payload ?? ''), {
    observed_at: 10,
    attrs: { door: 'open' },
  })

  const alive = decideThing(thing('update', 't', { at: 10 }), archived, RULES)
  t.is(alive.thing?.state, 'active')
})

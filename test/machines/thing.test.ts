// Method: one row a line of the table in decisions.md 4.

import test from 'ava'

import { decideThing } from '#test/support/single-decision'
import { nextThingState } from '#machines/thing'
import { thing } from '#test/support/submissions'
import { RULES, testLifecycle } from './lifecycle.ts'

testLifecycle(
  {
    name: 'a Thing',
    next: nextThingState,
    decide: ({ action, at, title }, kept) =>
      decideThing(thing(action, 't', { at, fields: { title } }), kept, RULES),
    entityOf: (decision) => decision.thing,
    makers: { active: 'create', archived: 'archive', deleted: 'delete' },
    refusal: 'thing_deleted',
    counted: { by: 'liveThings', states: ['active', 'archived'] },
  },
  [
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
  ],
)

test('a reading from before the archiving fills in and leaves the Thing archived', (t) => {
  const archived = decideThing(thing('archive', 't', { at: 10 }), undefined, RULES).thing
  const late = thing('update', 't', { at: 9, attrs: { door: 'open' } })
  const decision = decideThing(late, archived, RULES)
  t.is(decision.thing?.state, 'archived')
  t.deepEqual(JSON.parse(decision.entry?.payload ?? ''), {
    observed_at: 10,
    set_at: 9,
    attrs: { door: 'open' },
  })

  const alive = decideThing(thing('update', 't', { at: 10 }), archived, RULES)
  t.is(alive.thing?.state, 'active')
})

import test from 'ava'

import type { RuleId } from '#domain/identity'
import { NO_RULES, NO_WATCHES, watchesIn, write } from '#machines/watching'
import type { RulesDraft, Watches } from '#machines/watching'
import { ruleId } from '#test/support/rules'

const watch = { version: 'v', phase: 'firing', since: 0 } as const

/** A turn that has read these watches of every Thing. */
const draftOf = (loaded: Watches): RulesDraft => ({
  rules: NO_RULES,
  ruleWrites: new Map(),
  watchWrites: new Map(),
  watches: new Map(),
  made: new Map(),
  failures: new Map(),
  remembered: () => undefined,
  loaded: () => loaded,
})

test('watching/4: a turn copies the watches of a Thing once, however many rules change theirs', (t) => {
  const loaded = new Map<RuleId, typeof watch>([[ruleId('kept'), watch]])
  const draft = draftOf(loaded)
  write(draft, ruleId('r0'), 'a', watch)
  const made = watchesIn(draft, 'a')
  for (let each = 1; each < 1_000; each += 1) write(draft, ruleId(`r${each}`), 'a', watch)
  write(draft, ruleId('kept'), 'a', undefined)
  t.is(watchesIn(draft, 'a'), made)
  t.is(made.size, 1_000)
  t.deepEqual([...loaded.keys()], [ruleId('kept')])
  write(draft, ruleId('r0'), 'b', watch)
  t.is(watchesIn(draft, 'b').size, 2)
})

test('a turn that changes no watch copies none', (t) => {
  t.is(watchesIn(draftOf(NO_WATCHES), 'a'), NO_WATCHES)
})

// Goal: a link that somebody sends takes nothing from the person who follows it.

import test from 'ava'

import { replacesToken, token } from '#console/state/saved.ts'

const TOKENS: readonly (readonly [brought: string, kept: string, isOther: boolean])[] = [
  ['', '', false],
  ['', 'mine', false],
  ['mine', '', false],
  ['mine', 'mine', false],
  ['theirs', 'mine', true],
  ['mine ', 'mine', true],
]

test('a link brings another gateway token when both have one, and they differ', (t) => {
  for (const [brought, kept, isOther] of TOKENS) {
    token.value = kept
    t.is(replacesToken(brought), isOther, `'${brought}' at '${kept}'`) // saved/1
  }
})

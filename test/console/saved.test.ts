// Goal: a link that somebody sends takes nothing from the person who follows it, and what a person
// keeps stays where it belongs.

import test from 'ava'

import { forgetSearch, keepSearch, searchesOf } from '#console/search/saved-searches.ts'
import { forgetChannel, replacesToken, token } from '#console/state/saved.ts'

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

test('searches are kept for each channel, the newest twenty, and go with their channel', (t) => {
  for (let at = 0; at <= 20; at += 1) keepSearch('a', `boiler-${at}`)
  keepSearch('', 'tag:pump')
  keepSearch('a', 'boiler-5')
  t.is(searchesOf('a').length, 20)
  t.false(searchesOf('a').includes('boiler-0'), 'the oldest made room')
  t.is(searchesOf('a').at(-1), 'boiler-5', 'one that is kept again is the newest')
  forgetSearch('a', 'boiler-5')
  t.is(searchesOf('a').length, 19)
  forgetChannel('a')
  t.deepEqual([searchesOf('a'), searchesOf('')], [[], ['tag:pump']])
})

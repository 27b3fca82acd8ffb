// Goal: what the threads of a gateway tell is laid out for an engineer who shortens the way.

import test from 'ava'

import { functionsOf, placeOf } from '#test/support/thread-probe'
import { linesOf } from './rows/allocation.ts'

const ROOT = new URL('../..', import.meta.url)
const at = (path: string): string => new URL(path, ROOT).href

const PLACES: readonly (readonly [what: string, url: string, place: string])[] = [
  ['a source file', at('src/http/http.ts'), 'src/http/http.ts'],
  ['a built file', at('dist/actors/turn.js'), 'actors/turn.ts'],
  ['a file of CommonJS', new URL('node_modules/a/b.cjs', ROOT).pathname, 'node_modules/a/b.cjs'],
  ['a file of Node', 'node:internal/crypto/hash', 'node:internal/crypto/hash'],
]

for (const [what, url, place] of PLACES) {
  test(`${what} is named as a person knows it`, (t) => {
    t.is(placeOf(url), place)
  })
}

test('functions of the product that one thread called often enough are told by file', (t) => {
  const url = at('dist/src/http/http.js')
  const called = (name: string, offset: number, calls: number, of = url) => ({
    url: of,
    name,
    offset,
    calls,
  })
  const main = [called('open', 10, 60), called('', 20, 60), called('close', 30, 59)]
  const log = [
    called('open', 10, 61),
    called('close', 30, 59),
    called('', 5, 60, at('actors/turn.ts')),
    called('run', 5, 60, at('node_modules/xstate/index.js')),
    called('run', 5, 60, at('test/support/probed-thread.ts')),
  ]
  const byFile = functionsOf({ main: { functions: main }, log: { functions: log } }, 60)
  t.deepEqual(
    [...byFile].map(([file, functions]) => [file, ...functions.values()]),
    [
      ['src/http/http.ts', 'open', '(no name)'],
      ['actors/turn.ts', '(no name)'],
    ],
  )
})

test('a line says how many bytes an update has of a site, the most first', (t) => {
  const native = { url: '', name: '(V8 API)', line: 0, caller: 'accept', bytes: 2_000 }
  const own = { url: at('dist/actors/turn.js'), name: '', line: 7, caller: '', bytes: 150_000 }
  t.deepEqual(linesOf([native, own], 100), [
    '  1500 (no name) actors/turn.ts:7',
    '    20 (V8 API), called by accept',
  ])
})

// Goal: the label of an invariant names one thing, and finds the line that keeps it and its test.
// Method: read the labels that the headers of source files declare, and the files that name them.

import test from 'ava'

import { SOURCES, TESTS, textOf } from '#test/support/sources'

const DECLARED = /^\/\/ {2,}([a-z][a-z-]*\/\d+)\. /gm
const NAMED = /(?<![\w-])[a-z][a-z-]*\/\d+\b/g
const THIS_FILE = 'test/invariants.test.ts'

/** The files that declare each label. */
const declarations = Map.groupBy(
  SOURCES.flatMap((file) =>
    [...textOf(file).matchAll(DECLARED)].map(([, label = '']) => ({ label, file })),
  ),
  ({ label }) => label,
)

test('the label of an invariant is declared in one file', (t) => {
  const shared = [...declarations].filter(([, places]) => places.length > 1)
  t.deepEqual(
    shared.map(([label, places]) => [label, ...places.map(({ file }) => file)]),
    [],
  )
  t.true(declarations.size > 300, `only ${declarations.size} labels were found`)
})

test('each invariant has a test that names its label', (t) => {
  const tests = TESTS.filter((file) => file !== THIS_FILE)
  const named = new Set(tests.flatMap((file) => textOf(file).match(NAMED) ?? []))
  const without = [...declarations.keys()].filter((label) => !named.has(label))
  t.deepEqual(without, [])
})

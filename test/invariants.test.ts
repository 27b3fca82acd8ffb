// Goal: the label of an invariant names one thing, and finds the line that keeps it and its test.
// Method: read the labels that the headers of source files declare, and the files that name them.

import test from 'ava'

import { SOURCES, TESTS, textOf } from '#test/support/sources'

const DECLARED = /^\/\/ {2,}([a-z][a-z-]*\/\d+)\. /gm
const NAMED = /(?<![\w-])[a-z][a-z-]*\/\d+\b/g
const THIS_FILE = 'test/invariants.test.ts'

/** Labels that two files keep; each entry is one that still has to be told apart. */
const SHARED: readonly string[] = ['owned-lanes/1']

/** Labels that no test names yet. The list shrinks: a label that gets its test leaves it. */
const WITHOUT_TEST: readonly string[] = `
  budget/3 caller-check/2 channel-keys/2 channel-keys/3 feed-following/1 feed-following/3
  submissions/1 provider/2 server/2 access/1 endings/1 deliveries/2 device-session/1
  device-session/2 fleet-queue/1 programs/2 applications/2 arriving-body/3 client-address/1
  client-address/2 streaming/1 streaming/2 websocket/1 websocket/2 batches/1 shape/2
  subscriptions/2 connections/1 mysql/1 mysql/3 pipelined/4 blockers/1 flags/2 making/3 settling/2
  retention/2 sqlite/2 sqlite-lock/1 sqlite-lock/2 operations/2 turns/1 bucket-watcher/1 quic/2
  wss/3 channel-listeners/2 rank/1`
  .trim()
  .split(/\s+/)

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
    shared.map(([label]) => label),
    SHARED,
    shared.map(([, places]) => places.map(({ file }) => file).join(' and ')).join('; '),
  )
  t.true(declarations.size > 300, `only ${declarations.size} labels were found`)
})

test('each invariant has a test that names its label', (t) => {
  const tests = TESTS.filter((file) => file !== THIS_FILE)
  const named = new Set(tests.flatMap((file) => textOf(file).match(NAMED) ?? []))
  const without = [...declarations.keys()].filter((label) => !named.has(label))
  t.deepEqual(without.toSorted(), WITHOUT_TEST.toSorted())
})

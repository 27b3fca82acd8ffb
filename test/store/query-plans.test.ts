// Goal: no statement of the store reads more of a table than it needs.
// Method: do everything once, keep the text of every statement, and ask SQLite for its plan. A plan
// that scans a table fails unless its row here says why that is bounded.

import test from 'ava'

import { LIST_MAX } from '#src/store/statements/bulk'
import { emptyFile } from '#test/support/sqlite-store'
import { doEverything, openWatched } from '#test/support/watched-store'

// A scan that is bounded: by LIMIT along the table's own order, or because the table is small.
const BOUNDED: readonly (readonly [plan: RegExp, statement: RegExp])[] = [
  [/^SCAN json_each/, /json_each/],
  [/^SCAN (feed_entries|tombstones|dead_letters|push_jobs)$/, /ORDER BY id LIMIT \?$/],
  [/^SCAN tier_cuts$/, /ORDER BY id LIMIT 1$/],
  [/^SCAN operation_batches$/, /ORDER BY id LIMIT \?$/],
  [/^SCAN counted$/, /LIMIT 100000/],
  [/^SCAN oldest$/, /ORDER BY b\.id LIMIT \?\) oldest$/],
  [/^SCAN lanes$/, /max\(epoch\)/],
  [/^SCAN log_batches USING COVERING INDEX/, /sum\(size\)/],
  // One for each 32,768 updates of a day. The plan gives its rows in seq order without sorting.
  [/^SCAN spans$/, /RECURSIVE spans/],
  // The channels of one device, in the order of their ids.
  [/^USE TEMP B-TREE FOR ORDER BY$/, /d\.device_id = \?\s+ORDER BY c\.channel_id/],
  // A channel has few keys.
  [/^USE TEMP B-TREE FOR ORDER BY$/, /FROM channel_keys WHERE channel = \?/],
  // Each device's share of a claim's limit.
  [/^USE TEMP B-TREE FOR ORDER BY$/, /j\.id >= \? AND j\.id < \?.*ORDER BY j\.id LIMIT \?$/s],
  // One group a key.
  [/^USE TEMP B-TREE FOR GROUP BY$/, /json_each\(\?\)\) k\s.*GROUP BY k\./s],
  // The chunks that lie over each other at one place.
  [/^USE TEMP B-TREE FOR (LAST TERM OF )?ORDER BY$/, /FROM tier_chunks.*last_place DESC LIMIT/s],
  [/^(SCAN|SCALAR|COMPOUND).*CONSTANT ROW/, /./],
]

// Nearly every row matches this term: an index that is searched by no other reads the whole table.
const ALMOST_ALL = /\(is_deleted=\?\)/

test('every statement finds its rows by an index, also when it is asked for many', async (t) => {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  await doEverything(store)
  const texts = [...store.statements.texts.keys()]
  t.true(texts.length > 60)
  const scans: string[] = []
  for (const text of new Set([...texts, ...texts.map(widened)])) {
    const plan = await store.database.read((executor) =>
      executor.all<{ readonly detail: string }>(`EXPLAIN QUERY PLAN ${text}`),
    )
    for (const { detail } of plan) {
      const isSuspect = /SCAN|TEMP B-TREE/.test(detail) || ALMOST_ALL.test(detail)
      const isBounded = BOUNDED.some(
        ([shape, statement]) => shape.test(detail) && statement.test(text),
      )
      if (isSuspect && !isBounded) scans.push(`${detail}\n${text}`)
    }
  }
  t.deepEqual(scans, [])
})

/** The statement with as many values in its lists as it ever has. */
const widened = (text: string): string =>
  text.replaceAll(
    /IN \(\?(, \?)*\)/g,
    `IN (${Array.from({ length: LIST_MAX }, () => '?').join(', ')})`,
  )

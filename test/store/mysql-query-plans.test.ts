// Goal: no statement of the store needs to read a whole table of a MySQL database.
// Method: do everything once and ask for the plan of each statement. MySQL may well read a table
// whole while it is small; what must not be is a table for which no index comes into question.

import { newDatabase, sharedMariaDb } from '#test/support/mariadb'
import { doEverything, openWatched } from '#test/support/watched-store'

const mariaDb = sharedMariaDb()

interface Plan {
  readonly table: string | null
  readonly type: string | null
  readonly possible_keys: string | null
  readonly key: string | null
}

// Small tables, and the one parameter that is read as a table.
const BOUNDED: readonly (readonly [table: string, statement: RegExp])[] = [
  ['k', /JSON_TABLE/],
  ['<derived2>', /UPDATE \(SELECT \* FROM JSON_TABLE/],
  ['<derived2>', /SELECT count\(\*\) AS jobs .* LIMIT 100000/s],
  ['<derived2>', /ORDER BY b\.id LIMIT \?\) oldest$/],
  ['lanes', /max\(epoch\)/],
  ['lanes', /^SELECT lane, place FROM lanes$/],
  ['log_batches', /sum\(size\)/],
]

mariaDb.test('every statement has an index for its rows', async (t, server) => {
  const store = await openWatched(t, await newDatabase(server))
  await doEverything(store)
  const statements = [...store.statements.texts].filter(([text]) => / FROM |UPDATE/.test(text))
  t.true(statements.length > 60)
  for (const [text, parameters] of statements) {
    const values = parameters.map((value) => (typeof value === 'number' ? value : String(value)))
    const plans = await store.database.read((executor) =>
      executor.all<Plan>(`EXPLAIN FORMAT=TRADITIONAL ${text}`, values),
    )
    for (const { table, type, possible_keys: possible, key } of plans) {
      if (table === null || type === null || possible !== null || key !== null) continue
      const isBounded = BOUNDED.some(([name, shape]) => name === table && shape.test(text))
      t.true(isBounded, `${table}\n${text}`)
    }
  }
})

mariaDb.test('keys are looked up one by one, whatever else the tables hold', async (t, server) => {
  const store = await openWatched(t, await newDatabase(server))
  await doEverything(store)
  const grouped = [...store.statements.texts].filter(([text]) => text.includes('JSON_TABLE'))
  t.true(grouped.length >= 5)
  for (const [text, parameters] of grouped) {
    const values = parameters.map((value) => (typeof value === 'number' ? value : String(value)))
    const plans = await store.database.read((executor) =>
      executor.all<Plan>(`EXPLAIN FORMAT=TRADITIONAL ${text}`, values),
    )
    t.regex(plans[0]?.table ?? '', /^(k|<derived2>)$/, text)
    // A `ref` would be all rows of a channel or a device. Jobs are asked for by their operation or
    // their Thing (j), or in their order up to the first that will do (e).
    for (const { table, type } of plans.slice(1)) {
      if (table !== 'j' && table !== 'e') t.not(type, 'ref', `${table}\n${text}`)
    }
  }
})

// MariaDB takes it all the same, so only the text can tell.
mariaDb.test('no statement locks beside JSON_TABLE, which MySQL refuses', async (t, server) => {
  const store = await openWatched(t, await newDatabase(server))
  await doEverything(store)
  const locking = [...store.statements.texts.keys()].filter((text) => text.includes('FOR UPDATE'))
  const both = locking.filter((text) => text.includes('JSON_TABLE'))
  t.true(both.length > 0)
  for (const text of both) t.regex(text, /FROM \(SELECT \*\s+FROM JSON_TABLE/)
})

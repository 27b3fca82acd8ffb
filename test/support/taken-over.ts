// What the take-over makes of the rows of the version before 1.0. (test/store/former)

import type { ExecutionContext } from 'ava'

import { MIGRATIONS } from '#src/store/migrations/migrations'
import { presentHash } from '#src/store/migrations/take-over-rows'
import { inOrder, updatesOf } from '#test/support/database-rows'
import type { Rows } from '#test/support/database-rows'

/** The hash of the third channel, which was in the form of before, and what it is now. */
const FORMER_HASH =
  'scrypt$16384$8$1$AQIDBAUGBwgJCgsMDQ4PEA$e5bCaBEB5K5x5N01i8UlIMAQ15E0ulYqiG-iILSjDxY'
const PRESENT_HASH = presentHash(FORMER_HASH)

/** What the take-over makes of each table; every other one stays as it is. */
const CHANGED: Readonly<Record<string, (rows: Rows) => Rows>> = {
  lanes: (rows) => rows.map((row) => ({ ...row, owner: '' })),
  devices: (rows) => rows.map((row) => ({ ...row, label: null })),
  subscriptions: (rows) => rows.map((row) => ({ ...row, notify: null })),
  mqtt_sessions: (rows) => rows.map((row) => ({ ...row, key_id: '' })),
  channel_keys: (rows) =>
    rows
      .filter(({ label }) => label !== 'void')
      .map(({ password_hash: _hash, ...row }) =>
        row['label'] === 'older' ? { ...row, epoch: 1 } : row,
      ),
  channels: (rows) =>
    rows.map((row) =>
      row['id'] === 3
        ? { ...row, password_hash: PRESENT_HASH, keys_hash: PRESENT_HASH, keys_epoch: 1 }
        : row,
    ),
  bindings: (rows) =>
    rows.map((row) => (row['channel'] === 3 ? { ...row, password_hash: PRESENT_HASH } : row)),
  operations: (rows) =>
    rows.map((row) =>
      row['status'] === 'processing'
        ? { ...row, status: 'failed', error_code: 'internal_error' }
        : row,
    ),
  gateway_meta: (rows) => [
    ...rows.filter(({ name }) => name !== 'compact_since'),
    { name: 'update_number', value: '1048592' },
  ],
}

/** Tables whose form is another one: each is compared in its own way. */
const OTHER_FORM = [
  'authorization_records',
  'dead_letters',
  'former_thing_updates',
  'migrations',
  'parked_submissions',
  'thing_updates',
  'things',
  'update_blocks',
  'update_places',
]

const without = (rows: Record<string, Rows>, names: readonly string[]): Record<string, Rows> =>
  Object.fromEntries(Object.entries(rows).filter(([name]) => !names.includes(name)))

/** Compares the rows of before, as they have to be now, with those after. */
export function expects(
  t: ExecutionContext,
  before: Record<string, Rows>,
  after: Record<string, Rows>,
) {
  const expected = Object.entries(before).map(
    ([name, rows]) => [name, inOrder(CHANGED[name]?.(rows) ?? rows)] as const,
  )
  const made = Object.keys(after).filter((name) => !(name in before))
  for (const name of made) if (!OTHER_FORM.includes(name)) t.deepEqual(after[name], [], name)
  const others = [...OTHER_FORM, ...made]
  t.deepEqual(without(after, others), without(Object.fromEntries(expected), others))
  t.deepEqual(updatesOf(after), updatesOf(before))
  t.is(after['parked_submissions'], undefined)
  t.deepEqual(
    after['dead_letters']?.map(({ error, at }) => [error, Number(at)]),
    [
      ['a defect', 9],
      ['a trigger', 1_795_522_626_304],
    ],
  )
  t.deepEqual(
    after['migrations']?.map(({ name }) => name),
    MIGRATIONS.map((Step) => new Step().name),
  )
  const documents = after['things']?.map(({ document }) => JSON.parse(String(document)) as unknown)
  t.deepEqual(
    documents?.filter((document) => JSON.stringify(document).includes('of old')),
    [
      {
        rev: 2,
        stateAt: 200_000,
        at: 200_000,
        changedAt: 1_795_522_630_857,
        fields: { title: 'Pump', description: 'of old' },
        attrs: { on: true, times: { a: 1 }, rpm: 3 },
        externalIds: {},
        times: {
          fields: { title: 100_000, description: 100_000 },
          attrs: { on: 100_000, times: 100_000 },
        },
      },
    ],
  )
  const grants = after['authorization_records']?.map(
    ({ payload }) => JSON.parse(String(payload)) as unknown,
  )
  t.deepEqual(grants, [
    { client: 'c'.repeat(64), browser: 'browser', clientName: 'An assistant' },
    { client: 'grant-2', browser: '', clientName: 'An older one' },
  ])
}

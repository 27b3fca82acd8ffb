// Takes a database of the version before 1.0 over (commit ebf5d974): brings its tables and rows
// into the form of the baseline, in place. These files go with version 2.
//
// Invariants:
//   take-over/1. A process that ends in the middle leaves a database that the next start takes
//     over: each change finds out whether it is done, and what must change together is one
//     transaction. The steps of before are forgotten last, all at once.
//   take-over/2. No node of the version before writes an update that would be lost: the table to
//     which it writes them has another name first, so its turns fail and wait in the log.

import type { DataSource, QueryRunner } from 'typeorm'

import { StoreError } from '#src/store/store-error'
import { convertRows } from './take-over-rows.ts'
import { takeUpdates } from './take-over-updates.ts'

/** The steps that the version before has recorded. */
const FORMER = [
  'Tables1766000000000',
  'Spans1795000000000',
  'Blocks1795200000000',
  'SessionNumbers1795400000000',
  'LastUse1796000000000',
  'ChannelKeys1798000000000',
  'Pushes1799000000000',
  'Parked1799500000000',
  'Authorization1800000000000',
  'Assistants1800500000000',
  'Strangers1801500000000',
  'KeyRights1802000000000',
  'Compact1803000000000',
  'Rules1804000000000',
  'Scheduled1804500000000',
  'MqttSessions1805000000000',
  'Mappings1805500000000',
]
/** The same, and those of development between it and 1.0, which the take-over finds done. */
const KNOWN = new Set([...FORMER, 'SessionKeys1806000000000', 'UpdateBlocks1807000000000'])

/** The names of the steps that ran in a database; none without the table of them. */
export async function recordedSteps(runner: QueryRunner): Promise<readonly string[]> {
  if (!(await runner.hasTable('migrations'))) return []
  const rows: unknown = await runner.query('SELECT name FROM migrations')
  return (rows as readonly { readonly name: string }[]).map(({ name }) => name)
}

/** True for a step of the version before. */
export const isFormerStep = (name: string): boolean => KNOWN.has(name)

/** Throws for a database of a version that is still older. */
export function refuseOlder(recorded: readonly string[]): void {
  if (!recorded.some(isFormerStep) || FORMER.every((name) => recorded.includes(name))) return
  throw new StoreError(
    'older_database',
    'the database was made by a version of this program that is too old to be taken over: ' +
      'start the last version before 1.0 on it first (docs/CHANGELOG.md)',
  )
}

/** Brings tables and rows into the form of the baseline. */
export async function takeOver(runner: QueryRunner): Promise<void> {
  await takeUpdates(runner)
  await convertRows(runner)
}

/** Called once the baseline is recorded: the version before has refused the database since then. */
export async function forgetFormerSteps(source: DataSource): Promise<void> {
  const names = [...KNOWN]
  const list = names.map(() => '?').join(', ')
  await source.query(`DELETE FROM migrations WHERE name IN (${list})`, names) // take-over/1
}

// Goal: what a submission costs does not grow unseen, whoever uses the feature that it grows for.
// Method: a gateway of one process with everything on takes one submission after the other. Node's
// own counters say which functions of the product each of its threads calls and how many bytes it
// allocates; the clock stands still, so both are the same on any machine.

import test from 'ava'

import { TEST_MS } from '#test/support/bounds'
import { functionsOf } from '#test/support/thread-probe'
import type { ByThread } from '#test/support/thread-probe'
import type { Reading } from '#test/support/probed-thread'
import { standing } from '#test/support/standing'
import { BUDGETS, JOURNEYS, misfits } from './bounds.ts'
import type { Budget, JourneyName } from './bounds.ts'
import { SUBMISSIONS, openSite } from './site.ts'
import type { Site } from './site.ts'

/** Threads race, so now and then one takes another way than it does otherwise. */
const CALLS_MIN = 0.9 * SUBMISSIONS
/** Noise only adds to what a round counts, so the least of each counts. */
const ROUNDS = 3

const siteOfAll = standing(openSite)

async function roundOf(site: Site, name: JourneyName): Promise<ByThread<Reading>> {
  const { probe, journeys } = site
  await site.begin()
  await site.rest()
  await probe.ask({ kind: 'mark' })
  await journeys[name]()
  await site.rest()
  const readings = await probe.ask({ kind: 'read' })
  await site.acknowledge()
  return readings
}

interface Used extends Budget {
  /** The functions of the files, by file. */
  readonly byFile: ReturnType<typeof functionsOf>
}

async function usedBy(site: Site, name: JourneyName): Promise<Used> {
  await site.begin()
  await site.journeys[name]()
  await site.acknowledge()
  const rounds: ByThread<Reading>[] = []
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await roundOf(site, name))
  const bytes: Record<string, number> = {}
  for (const thread of Object.keys(BUDGETS[name].bytes)) bytes[thread] = leastOf(rounds, thread)
  const [least] = rounds
    .map((readings) => functionsOf(readings, CALLS_MIN))
    .toSorted((one, other) => countOf(one) - countOf(other))
  const byFile = least ?? new Map()
  const files = byFile.size
  return { functions: countOf(byFile), files, bytes, byFile }
}

const countOf = (byFile: Used['byFile']): number =>
  [...byFile.values()].reduce((sum, { size }) => sum + size, 0)

/** Bytes of a submission in the round in which the thread allocated least. */
function leastOf(rounds: readonly ByThread<Reading>[], thread: string): number {
  const whole = rounds.flatMap(({ [thread]: reading }) =>
    reading === undefined || reading.collections > 0 ? [] : [reading.bytes],
  )
  if (whole.length === 0) throw new Error(`the heap of ${thread} was collected in every round`)
  return Math.round(Math.min(...whole) / SUBMISSIONS)
}

/** What a submission that has nothing to do with people calls nothing of. */
const OF_PEOPLE = [
  'machines/attention.ts',
  'machines/reminding.ts',
  'src/domain/push/preferences.ts',
  'src/domain/push/receipts.ts',
]
const isOfPeople = (name: JourneyName, path: string): boolean =>
  name !== 'push' && OF_PEOPLE.some((one) => path.endsWith(one))

const TITLES: Readonly<Record<JourneyName, string>> = {
  update: 'an update of a Thing',
  turn: 'an update of a Thing among sixty of its turn',
  message: 'a Message',
  publication: 'a publication to an imitated tool',
  mqtt: 'a publish of MQTT',
  push: 'an update that is pushed to a device of Apple',
}

for (const name of JOURNEYS) {
  test.serial(`${TITLES[name]} calls and allocates what its budget allows`, async (t) => {
    t.timeout(TEST_MS)
    const { byFile, ...used } = await usedBy(await siteOfAll(), name)
    t.log(JSON.stringify(used))
    const differences = misfits(used, BUDGETS[name])
    if (differences.length > 0) {
      for (const [path, functions] of byFile) t.log(`${functions.size} ${path}`)
    }
    t.deepEqual(differences, [])
    t.deepEqual(
      [...byFile.keys()].filter((path) => isOfPeople(name, path)),
      [],
    )
  })
}

const BOUNDS: Budget = { functions: 100, files: 20, bytes: { main: 1_000, log: 500 } }
const FITTING = { functions: 98, files: 20, bytes: { main: 900, log: 450, engine: 7 } }

test('a budget fits what is at its bounds or a little below', (t) => {
  t.deepEqual(misfits(FITTING, BOUNDS), [])
})

test('more than a bound does not fit, nor does a bound far above what is used', (t) => {
  const bytes = { main: 1_001, log: 300 }
  t.deepEqual(misfits({ functions: 101, files: 20, bytes }, BOUNDS), [
    '101 functions: more than 100',
    '1001 bytes of main: more than 1000',
    '300 bytes of log: lower the bound of 500',
  ])
})

test('a thread that told nothing does not fit', (t) => {
  t.deepEqual(misfits({ ...FITTING, bytes: { main: 900 } }, BOUNDS), [
    'Infinity bytes of log: more than 500',
  ])
})

import test from 'ava'
import * as fc from 'fast-check'

import { planLeases } from '#src/stream/leases/plan'
import type { LeaseView } from '#domain/ports'

const DEAD_MS = 1_000

/** Rows of lanes with these owners, under the epochs 10, 11, …; and holders with these ages. */
const viewOf = (owners: readonly string[], ages: Readonly<Record<string, number>>): LeaseView => ({
  rows: owners.map((owner, lane) => ({ lane, epoch: lane + 10, owner })),
  holders: Object.entries(ages).map(([session, ageMs]) => ({ session, ageMs })),
})

const EMPTY = { held: [], take: [], release: [], dead: [] }

test('the only node takes the lanes that nobody owns, and holds those that it owns', (t) => {
  t.deepEqual(planLeases(viewOf(['me', '', 'gone'], { me: 0 }), 'me', DEAD_MS), {
    ...EMPTY,
    held: [{ lane: 0, epoch: 10 }],
    take: [1, 2],
  })
})

test('lease-plan/1: a node waits for a live owner, and takes the lanes of a dead one', (t) => {
  for (const [ageMs, isDead] of [
    [DEAD_MS, false],
    [DEAD_MS + 1, true],
    // The database's clock was set back after a renewal.
    [-DEAD_MS, false],
    [-DEAD_MS - 1, true],
  ] as const) {
    const { take, dead } = planLeases(viewOf(['it', 'it'], { it: ageMs, me: 0 }), 'me', DEAD_MS)
    t.deepEqual([take, dead], isDead ? [[0, 1], ['it']] : [[], []], `${ageMs}`)
  }
})

test('a node releases what it owns beyond its share, and no longer holds it', (t) => {
  t.deepEqual(planLeases(viewOf(['me', 'me', 'me', 'me'], { me: 0, it: 0 }), 'me', DEAD_MS), {
    ...EMPTY,
    held: [
      { lane: 0, epoch: 10 },
      { lane: 1, epoch: 11 },
    ],
    release: [2, 3],
  })
})

test('a node never counts itself as dead', (t) => {
  t.deepEqual(planLeases(viewOf([''], { me: 9 * DEAD_MS }), 'me', DEAD_MS), { ...EMPTY, take: [0] })
})

const anyOwner = fc.constantFrom('', 'a', 'b', 'c', 'd', 'gone')
const anySessions = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 })

test('lease-plan/2: nodes that see the same rows share all lanes evenly, each lane once', (t) => {
  fc.assert(
    fc.property(
      fc.array(anyOwner, { minLength: 1, maxLength: 40 }),
      anySessions,
      (owners, sessions) => {
        const ages = Object.fromEntries(sessions.map((session) => [session, 0]))
        const view = viewOf(owners, ages)
        // Releases come first; what was released is taken by those who lack it.
        const released = new Set(sessions.flatMap((of) => planLeases(view, of, DEAD_MS).release))
        const after = viewOf(
          owners.map((each, lane) => (released.has(lane) ? '' : each)),
          ages,
        )
        const plans = sessions.map((session) => planLeases(after, session, DEAD_MS))
        const lanes = plans.flatMap(({ held, take }) => [...held.map(({ lane }) => lane), ...take])
        t.deepEqual(
          lanes.toSorted((one, other) => one - other),
          owners.map((_, lane) => lane),
        )
        const share = owners.length / sessions.length
        for (const { held, take, release } of plans) {
          t.true(Math.abs(held.length + take.length - share) < 1)
          t.deepEqual(release, [])
        }
      },
    ),
  )
})

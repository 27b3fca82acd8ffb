// The bytes that an update leaves in the database: its entry in the feed and the record of its
// operation. The log, and MySQL's binary log, are apart; so are Things and tiers, which grow with
// the fleet and with time.

import { setTimeout as delay } from 'node:timers/promises'

import { RUN_UPDATES } from '#src/store/retention/joining'
import { spread } from '#test/bench/load/statistics'
import type { Rig } from '#test/bench/rig/rig'
import type { Subject } from '#test/bench/rig/subject'
import type { Stored } from '#test/bench/rig/database'
import type { Figure, Row } from './row.ts'
import type { Session } from './session.ts'
import type { Engine } from './subjects.ts'

const CHANNELS = 100
/** A run lasts so many steps of five seconds. */
const STEPS = 4
/** The run is filled by so many updates more than it needs, at this rate. */
const SPARE_UPDATES = 64
const FILL_PER_SECOND = 2_000
const JOINED_WITHIN_MS = 60_000
const LOOK_AGAIN_MS = 1_000

const SHARED = { unit: 'bytes an update' } as const
const FIGURES = {
  embedded: { ...SHARED, row: 'footprint', goal: { kind: 'at-most', must: 110, aim: 80 } },
  cluster: { ...SHARED, row: 'footprint.mysql', goal: { kind: 'at-most', must: 130, aim: 100 } },
} as const

export const FOOTPRINT_ROW: Row = {
  name: 'footprint',
  measure: async (session) => [
    await measured(session, 'embedded'),
    await measured(session, 'cluster'),
  ],
}

async function measured(session: Session, engine: Engine): Promise<Figure> {
  const name = `footprint-${engine}`
  const start = (): Promise<Subject> => session.subjects.product(engine, name, 'split', CHANNELS)
  const plan = { name, start, devices: 'without devices' } as const
  const { ran, ...ending } = await session.withRig(plan, (rig) => runsOf(session, rig))
  if (ending.kind === 'failed') {
    return { ...FIGURES[engine], value: undefined, failure: ending.failure, details: { ran } }
  }
  const runs = ending.result
  const value = spread(runs.map(({ bytesEach }) => bytesEach))
  return { ...FIGURES[engine], value, details: { ran, channels: CHANNELS, runs } }
}

interface Run {
  readonly updates: number
  readonly bytesEach: number
  /** Growth of the whole database. */
  readonly bytesInAll: number
  /** Updates in blocks that are not joined yet. */
  readonly unjoined: number
}

async function runsOf({ options }: Session, rig: Rig): Promise<readonly Run[]> {
  const { runs, secondsPerStep, say } = options
  const durationMs = secondsPerStep * STEPS * 1_000
  await rig.step({ pace: { kind: 'closed' }, durationMs }) // It makes the Things.
  let { stored: before } = await joined(rig)
  const all: Run[] = []
  for (let run = 0; run < runs; run += 1) {
    const { load } = await rig.step({ pace: { kind: 'closed' }, durationMs })
    const { stored: after, updates: more } = await joined(rig)
    const updates = load.accepted + more
    const bytesEach = (after.ofUpdates - before.ofUpdates) / updates
    say(`  ${rig.subject.name}: ${bytesEach.toFixed(0)} bytes an update, of ${updates}`)
    const bytesInAll = after.bytes - before.bytes
    all.push({ updates, bytesEach, bytesInAll, unjoined: after.unjoined })
    before = after
  }
  return all
}

interface Joined {
  readonly stored: Stored
  /** Updates that were sent to fill the last run. */
  readonly updates: number
}

/** Fills a run, so that few updates are left unjoined, and looks once all runs are joined. */
async function joined(rig: Rig): Promise<Joined> {
  const { unjoined } = await once(rig.subject)
  const missing = RUN_UPDATES + SPARE_UPDATES - unjoined
  const durationMs = (missing / FILL_PER_SECOND) * 1_000
  const { load } = await rig.step({
    pace: { kind: 'open', ratePerSecond: FILL_PER_SECOND },
    durationMs,
  })
  return { stored: await once(rig.subject), updates: load.accepted }
}

/**
 * Returns what the database uses once no whole run is left and nothing changes, or after a minute.
 * MySQL frees the pages of removed rows a moment after their removal.
 */
async function once(subject: Subject): Promise<Stored> {
  const deadlineMs = performance.now() + JOINED_WITHIN_MS
  for (let before = Number.NaN; ; await delay(LOOK_AGAIN_MS)) {
    const now = await subject.stored?.()
    if (now === undefined) throw new Error('the subject does not say what it stores')
    const isAtRest = now.unjoined < RUN_UPDATES && now.ofUpdates === before
    if (isAtRest || performance.now() > deadlineMs) return now
    before = now.ofUpdates
  }
}

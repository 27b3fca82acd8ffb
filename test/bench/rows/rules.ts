// Rules: what ten of them cost updates that they watch, how late a `for` ends under load, and how
// fast deadlines are moved.

import { join } from 'node:path'

import { DUE_MAX } from '#domain/rules/stored'
import { CHANNEL_COUNT, THING_COUNT } from '#test/bench/load/payload'
import { spread } from '#test/bench/load/statistics'
import { addDeadlines } from '#test/bench/rig/database'
import { databaseIn, startGateway } from '#test/bench/rig/gateway'
import { prepareKeyed, startKeyed } from '#test/bench/rig/keyed'
import { residentMbOf } from '#test/bench/rig/processes'
import type { Server } from '#test/bench/rig/server'
import { metricOf } from '#test/bench/rig/subject'
import { detailsOf, divided } from './measured.ts'
import type { Figure, Row } from './row.ts'
import type { Plan, Session } from './session.ts'

const event = { title: '{thing.title}' }
const TOO_HOT = { attr: 'temperature', above: 1_000 }

/** Ten rules of different forms that watch every Thing; none of them fires. */
const TEN: readonly object[] = [
  { when: TOO_HOT, event },
  { when: { attr: 'humidity', outside: [-1, 1_000] }, for: '5m', event },
  { when: { attr: 'battery', below: -1 }, clear: { attr: 'battery', above: 5 }, event },
  { when: { attr: 'online', equals: false }, event },
  { when: { all: [TOO_HOT, { attr: 'online', equals: true }] }, for: '1m', event },
  { when: { any: [TOO_HOT, { attr: 'humidity', below: -1 }] }, event },
  { when: { cel: 'attrs.temperature > 1000.0 && attrs.humidity < 60' }, event },
  { when: { silent: '30d' }, event },
  { when: { attr: 'temperature', above: 900 }, event, things: { prefix: 'sensor-' } },
  { when: { attr: 'battery', absent: true }, message: { title: '{thing.title}' } },
].map((rule) => ({ things: 'all', ...rule }))

export const RULES_ROW: Row = {
  name: 'rules',
  async measure(session) {
    const below = planOf(session, 'without-rules', [])
    const plan = planOf(session, 'with-rules', TEN)
    const [measured, without] = await session.between(plan, below)
    const failure = measured.failure ?? without.failure
    const late =
      measured.knee === undefined ? [] : [await lateAt(session, measured.knee.median / 2)]
    return [
      {
        row: 'rules',
        unit: 'submissions/s',
        value: measured.knee,
        denominator: {
          id: 'without rules',
          value: without.knee,
          ratio: divided(measured, without),
        },
        goal: { kind: 'ratio-at-least', must: 0.85, aim: 0.95 },
        details: { ...detailsOf(measured), denominatorDetails: detailsOf(without) },
        ...(failure !== undefined && { failure }),
      },
      ...late,
    ]
  },
}

/** A condition that a tenth of the Things meet with each reading, and so for as long as asked. */
const MOIST = { things: 'all', when: { attr: 'humidity', inside: [40, 44] }, for: '3s', event }
/** The condition is met at once, and the times begin to end after three seconds. */
const LATE_MS = 15_000
const AT_HALF = { kind: 'at-most', must: 3, aim: 1 } as const

/** How late the `for` of a rule ends at a rate (R8). */
async function lateAt(session: Session, ratePerSecond: number): Promise<Figure> {
  const plan = planOf(session, 'rules-late', [MOIST])
  // The Events of rules are stored beside what was accepted.
  const count = () => Promise.resolve(undefined)
  const start = async () => ({ ...(await plan.start()), count })
  const ending = await session.withRig({ ...plan, start }, async (rig) => {
    const pace = { kind: 'open', ratePerSecond: Math.round(ratePerSecond) } as const
    const { load } = await rig.step({ pace, durationMs: LATE_MS })
    const { servers, recipe } = rig.subject
    const [server] = servers
    if (server === undefined) throw new Error('the subject has no server')
    return { ...(await lateOf(server, recipe.token)), load }
  })
  const shared = { row: 'rules.late', unit: 's on average', goal: AT_HALF } as const
  if (ending.kind === 'failed') {
    return { ...shared, value: undefined, failure: ending.failure, details: {} }
  }
  const { ticks, late, load } = ending.result
  session.options.say(`  rules: ${ticks} ticks, ${(late / ticks).toFixed(2)} s late`)
  return { ...shared, value: spread([late / ticks]), details: { ratePerSecond, ticks, load } }
}

/** Every channel has the rules. */
const planOf = ({ subjects }: Session, name: string, rules: readonly object[]): Plan => ({
  name,
  devices: 'without devices',
  start: async () =>
    startKeyed(join(await subjects.scratch(), name), {
      name,
      channels: CHANNEL_COUNT,
      things: THING_COUNT,
      rules,
    }),
})

const THINGS = 1_000_000
const SILENT_MS = 600_000
/** What a fleet of them needs, at one look each in ten minutes. */
const NEEDED_PER_SECOND = THINGS / (SILENT_MS / 1_000)
const LOOKED_MS = 250
/** A step of five seconds becomes one of fifteen. */
const STEP_RATIO = 3
const DUE_AT_ONCE = 200_000
const CATCH_UP_MS = 60_000

const MOVED = { kind: 'ratio-at-least', must: 2, aim: 5 } as const
const MEMORY = { kind: 'at-most', must: 300, aim: 200 } as const
const LATE = { kind: 'at-most', must: 1, aim: 0.3 } as const

export const SILENCE_ROW: Row = {
  name: 'silence',
  async measure(session) {
    try {
      return await silence(session)
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error)
      const missing = { row: 'silence', unit: 'deadlines/s', value: undefined, failure }
      return [{ ...missing, goal: MOVED, details: {} }]
    }
  },
}

async function silence(session: Session): Promise<readonly Figure[]> {
  const { token, directory } = await silentThings(session)
  const { runs, say, secondsPerStep } = session.options
  const working: Worked[] = []
  for (let run = 0; run < runs; run += 1) {
    const worked = await workOff(directory, token, secondsPerStep * STEP_RATIO)
    working.push(worked)
    const { perSecond, lateSeconds } = worked
    say(`  silence: ${Math.round(perSecond)}/s, late ${lateSeconds.toFixed(2)} s`)
  }
  const moved = working.map(({ perSecond }) => perSecond)
  const details = { things: THINGS, silentMs: SILENT_MS }
  const needed = spread([NEEDED_PER_SECOND])
  const ratio = spread(moved.map((rate) => rate / NEEDED_PER_SECOND))
  return [
    {
      row: 'silence.moved',
      unit: 'deadlines/s',
      value: spread(moved),
      denominator: { id: 'needed', value: needed, ratio },
      goal: MOVED,
      details,
    },
    {
      row: 'silence.late',
      unit: 's on average',
      value: spread(working.map(({ lateSeconds }) => lateSeconds)),
      goal: LATE,
      details,
    },
    {
      row: 'silence.memory',
      unit: 'MB',
      value: spread(working.map(({ residentMb }) => residentMb)),
      goal: MEMORY,
      details,
    },
  ]
}

/** A database with a million Things, each of whose channels has the rule. */
async function silentThings({ subjects, options }: Session) {
  const directory = join(await subjects.scratch(), 'silence')
  const silent = { things: 'all', when: { silent: `${SILENT_MS / 60_000}m` }, event }
  const stored = { channels: CHANNEL_COUNT, stored: THINGS }
  const token = await prepareKeyed(directory, { ...stored, rules: [silent] })
  options.say(`  silence: ${THINGS} things stored`)
  return { token, directory }
}

interface Worked {
  readonly perSecond: number
  readonly lateSeconds: number
  readonly residentMb: number
}

/**
 * Lets a gateway work off deadlines of which some are due at once, as after a stop, and looks for as
 * long at how late the others are then. Nothing is silent yet, so each is moved.
 */
async function workOff(directory: string, token: string, seconds: number): Promise<Worked> {
  await addDeadlines(databaseIn(directory), DUE_AT_ONCE, SILENT_MS)
  const server = await startGateway(directory, token)
  let residentMb = 0
  const look = async () => {
    await new Promise((resolve) => setTimeout(resolve, LOOKED_MS))
    residentMb = Math.max(residentMb, residentMbOf(server.pid))
    return { ...(await lateOf(server, token)), ms: performance.now() }
  }
  try {
    const first = await look()
    let last = first
    while (last.ms - first.ms < seconds * 1_000 && last.ticks * DUE_MAX < DUE_AT_ONCE) {
      last = await look()
    }
    const perSecond = ((last.ticks - first.ticks) * DUE_MAX * 1_000) / (last.ms - first.ms)
    // It catches up with what was due at once, and what became due meanwhile.
    let begin = last
    for (const endMs = last.ms + CATCH_UP_MS; last.ms < endMs; begin = last) {
      last = await look()
      if (last.ticks > begin.ticks && last.late - begin.late < last.ticks - begin.ticks) break
    }
    while (last.ms - begin.ms < seconds * 1_000) last = await look()
    return {
      perSecond,
      residentMb,
      lateSeconds: (last.late - begin.late) / (last.ticks - begin.ticks),
    }
  } finally {
    await server.stop()
  }
}

/** How many ticks fired deadlines, and how late the earliest of each were, in seconds together. */
async function lateOf(server: Server, token: string) {
  const [ticks = 0, late = 0] = await Promise.all(
    ['count', 'sum'].map((part) => metricOf(server, { token, name: `${LATE_METRIC}_${part}` })),
  )
  return { ticks, late }
}

const LATE_METRIC = 'heliograph_deadline_late_seconds'

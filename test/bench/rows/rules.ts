// Rules: what ten of them cost updates that they watch, and how fast deadlines are moved.

import { cp } from 'node:fs/promises'
import { join } from 'node:path'

import { spread } from '#test/bench/load/statistics'
import { Caller, PASSWORD } from '#test/bench/rig/caller'
import { addDeadlines, multiplyThings } from '#test/bench/rig/database'
import { databaseIn, startGateway } from '#test/bench/rig/gateway'
import { residentMbOf } from '#test/bench/rig/processes'
import type { Server } from '#test/bench/rig/server'
import { metricOf } from '#test/bench/rig/subject'
import type { Subject } from '#test/bench/rig/subject'
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
]

/** Every channel has the rules. */
async function put(server: Server, from: Keeping, rules: readonly object[]): Promise<void> {
  const caller = new Caller(server, from.token)
  for (const channel_id of from.channels) {
    await Promise.all(
      rules.map((rule, index) =>
        caller.post('/rule/put', {
          channel_id,
          password: PASSWORD,
          rule_id: `r${index}`,
          rule: { things: 'all', ...rule },
        }),
      ),
    )
  }
}

interface Keeping {
  readonly token: string
  readonly channels: readonly string[]
}

export const RULES_ROW: Row = {
  name: 'rules',
  async measure(session) {
    const below = planOf(session, 'without-rules', () => Promise.resolve())
    const plan = planOf(session, 'with-rules', withRules)
    const [measured, without] = await session.between(plan, below)
    const failure = measured.failure ?? without.failure
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
    ]
  },
}

const planOf = (
  { subjects }: Session,
  name: string,
  prepare: (subject: Subject) => Promise<void>,
): Plan => ({
  name,
  devices: 'without devices',
  start: async () => {
    const subject = await subjects.product('embedded', name)
    await prepare(subject)
    return { ...subject, name }
  },
})

async function withRules(subject: Subject): Promise<void> {
  const [server] = subject.servers
  if (server === undefined) throw new Error('the product has no process')
  const before = (await subject.applied()) ?? 0
  await put(server, subject.recipe, TEN)
  const wanted = before + subject.recipe.channels.length * TEN.length
  await until(async () => ((await subject.applied()) ?? 0) >= wanted)
}

const THINGS = 1_000_000
const SILENT_MS = 600_000
/** What a fleet of them needs, at one look each in ten minutes. */
const NEEDED_PER_SECOND = THINGS / (SILENT_MS / 1_000)
const LOOKED_MS = 250
const LIMIT_MS = 300_000

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
  const moved: number[] = []
  const late: number[] = []
  const residentMb: number[] = []
  for (let run = 0; run < runs; run += 1) {
    // At once, as after a stop of ten minutes; then spread over the ten minutes.
    const all = await working({ directory, token, spreadMs: 1, untilEmpty: true })
    const even = await working({ directory, token, spreadMs: SILENT_MS, seconds: secondsPerStep })
    moved.push(THINGS / all.seconds)
    residentMb.push(all.residentMb)
    late.push(even.lateSeconds)
    say(`  silence: ${Math.round(THINGS / all.seconds)}/s, late ${even.lateSeconds.toFixed(2)} s`)
  }
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
    { row: 'silence.late', unit: 's on average', value: spread(late), goal: LATE, details },
    { row: 'silence.memory', unit: 'MB', value: spread(residentMb), goal: MEMORY, details },
  ]
}

/** A database with a million Things, each of whose channels has the rule. */
async function silentThings(session: Session): Promise<{ token: string; directory: string }> {
  const prepared = await session.subjects.prepared('embedded')
  const directory = join(await session.subjects.scratch(), 'silence')
  await cp(prepared.directory, directory, { recursive: true })
  const server = await startGateway(directory, prepared.token)
  try {
    await put(server, prepared, [{ when: { silent: `${SILENT_MS / 60_000}m` }, event }])
    const { token } = prepared
    await until(async () => (await waiting(server, token)) >= prepared.channels.length)
  } finally {
    await server.stop()
  }
  const things = await multiplyThings(databaseIn(directory), THINGS)
  session.options.say(`  silence: ${things} things stored`)
  return { token: prepared.token, directory }
}

interface Work {
  readonly directory: string
  readonly token: string
  /** Milliseconds over which the deadlines are spread, from the start on. */
  readonly spreadMs: number
  readonly untilEmpty?: true
  readonly seconds?: number
}

/** Lets a gateway work off deadlines; nothing is silent yet, so each is moved. */
async function working({ directory, token, spreadMs, untilEmpty, seconds = 0 }: Work) {
  await addDeadlines(databaseIn(directory), spreadMs)
  const server = await startGateway(directory, token)
  try {
    const startMs = performance.now()
    let residentMb = 0
    let lastMs = startMs
    let ticks = -1
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, LOOKED_MS))
      const now = performance.now()
      residentMb = Math.max(residentMb, residentMbOf(server.pid))
      const made = await counted(server, token)
      if (made !== ticks) lastMs = now
      ticks = made
      const isOver = untilEmpty === true ? now - lastMs > 2_000 : now - startMs > seconds * 1_000
      if (isOver || now - startMs > LIMIT_MS) break
    }
    const sum = await metricOf(server, { token, name: 'heliograph_deadline_late_seconds_sum' })
    return { seconds: (lastMs - startMs) / 1_000, residentMb, lateSeconds: sum / ticks }
  } finally {
    await server.stop()
  }
}

const counted = (server: Server, token: string): Promise<number> =>
  metricOf(server, { token, name: 'heliograph_deadline_late_seconds_count' })

const waiting = (server: Server, token: string): Promise<number> =>
  metricOf(server, { token, name: 'heliograph_deadlines_waiting' })

async function until(isDone: () => Promise<boolean>): Promise<void> {
  for (let left = LIMIT_MS; left > 0; left -= LOOKED_MS) {
    if (await isDone()) return
    await new Promise((resolve) => setTimeout(resolve, LOOKED_MS))
  }
  throw new Error('the gateway did not come to rest')
}

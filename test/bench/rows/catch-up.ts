// Devices that come back after they have missed something.

import { join } from 'node:path'

import { CHANNEL_COUNT } from '#test/bench/load/payload'
import { spread } from '#test/bench/load/statistics'
import { fleetReturn, missed, withReturns } from '#test/bench/rig/catch-up'
import type { Absence, FleetReturn, Missed, Return } from '#test/bench/rig/catch-up'
import { startGateway } from '#test/bench/rig/gateway'
import type { Server } from '#test/bench/rig/server'
import { rangeOf } from './measured.ts'
import type { Figure, Row } from './row.ts'
import type { Session } from './session.ts'

const REPLAY = { messages: 60, goal: { kind: 'ratio-at-least', must: 2, aim: 5 } } as const
const CONFLATED = { updates: 1_000, goal: { kind: 'at-most', must: 2, aim: 0.5 } } as const

const FLEET = {
  /** 20 entries each: below what a device acknowledges at once, so that every run has them. */
  devices: { name: 'fleet', count: 5_000, channels: 2, among: CHANNEL_COUNT },
  messages: 10,
  request: { pace: { kind: 'open', ratePerSecond: 200 }, durationMs: 10_000 },
  goal: { kind: 'at-most', must: 30, aim: 7 },
} as const

export const CATCH_UP_ROW: Row = {
  name: 'catch-up',
  measure: async (session) => [
    await replayed(session),
    await conflated(session),
    await fleet(session),
  ],
}

/** Messages to one device with all channels, against the rate at which they can be sent. */
async function replayed(session: Session): Promise<Figure> {
  const shared = { row: 'catch-up', unit: 'entries/s', goal: REPLAY.goal }
  const live = await session.measure(session.endToEnd('embedded'))
  const { knee } = live
  const expected = CHANNEL_COUNT * REPLAY.messages
  const returns = await returnsOf(session, { name: 'catch-up', expected, ...REPLAY })
  if (typeof returns === 'string' || knee === undefined) {
    const failure = typeof returns === 'string' ? returns : (live.failure ?? 'no knee')
    return { ...shared, value: undefined, failure, details: {} }
  }
  const rates = returns.map(({ entries, seconds }) => entries / seconds)
  return {
    ...shared,
    value: spread(rates),
    denominator: {
      id: 'own knee',
      value: knee,
      ratio: rangeOf(rates.map((rate) => rate / knee.median)),
    },
    details: { devices: 1, channels: CHANNEL_COUNT, runs: returns },
  }
}

/** A million updates of a thousand things, to one device. */
async function conflated(session: Session): Promise<Figure> {
  const shared = { row: 'catch-up.conflated', unit: 's', goal: CONFLATED.goal }
  const expected = CHANNEL_COUNT * (CONFLATED.updates + 1)
  const returns = await returnsOf(session, { name: 'conflated', expected, ...CONFLATED })
  if (typeof returns === 'string') {
    return { ...shared, value: undefined, failure: returns, details: {} }
  }
  const value = spread(returns.map(({ seconds }) => seconds))
  const updates = CHANNEL_COUNT * CONFLATED.updates
  return {
    ...shared,
    value,
    details: { devices: 1, things: CHANNEL_COUNT, updates, runs: returns },
  }
}

/** 5,000 devices at once, each with some channels, while updates go on. */
async function fleet(session: Session): Promise<Figure> {
  const shared = { row: 'catch-up.fleet', unit: 's', goal: FLEET.goal }
  let server: Server | undefined
  try {
    const { messages, devices } = FLEET
    const directory = join(await session.subjects.scratch(), devices.name)
    const absent = await missed(directory, { messages, devices })
    server = await startGateway(directory, absent.token)
    const returns: FleetReturn[] = []
    for (let run = 0; run < session.options.runs; run += 1) {
      returns.push(await fleetOnce(session, server, absent))
    }
    await server.stop()
    const value = spread(returns.map(({ seconds }) => seconds))
    return { ...shared, value, details: { ...devices, messages, runs: returns } }
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error)
    return { ...shared, value: undefined, failure, details: {} }
  } finally {
    await server?.kill()
  }
}

async function fleetOnce({ options }: Session, server: Server, from: Missed): Promise<FleetReturn> {
  const { devices, request } = FLEET
  const ended = await fleetReturn(server, from, { channelsEach: devices.channels, request })
  const { accepted, due, latency } = ended.load
  options.say(
    `  fleet: caught up in ${ended.seconds.toFixed(1)} s; ${accepted} of ${due} accepted, ` +
      `p50 ${latency.p50Ms.toFixed(1)} ms, p99 ${latency.p99Ms.toFixed(1)} ms`,
  )
  return ended
}

interface Wanted extends Omit<Absence, 'devices'> {
  readonly name: string
  /** Entries that one return expects. */
  readonly expected: number
}

/** One return a run, or why there is none. */
async function returnsOf(
  session: Session,
  { name, expected, ...absence }: Wanted,
): Promise<readonly Return[] | string> {
  const { runs, say } = session.options
  try {
    const devices = { name, count: 1, channels: CHANNEL_COUNT, among: CHANNEL_COUNT }
    const directory = join(await session.subjects.scratch(), name)
    const from = await missed(directory, { devices, ...absence })
    return await withReturns(from, async (comeBack) => {
      const returns: Return[] = []
      for (let run = 0; run < runs; run += 1) {
        const ended = await comeBack(expected)
        const { seconds, entries, cpuMicrosPerEntry } = ended
        const cpu = `${cpuMicrosPerEntry.toFixed(1)} µs of CPU each`
        say(`  ${name}: ${entries} entries in ${seconds.toFixed(2)} s, ${cpu}`)
        returns.push(ended)
      }
      return returns
    })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

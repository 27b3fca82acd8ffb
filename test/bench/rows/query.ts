// Queries over 100,000 Things of one channel: what each costs, and how much later the updates of
// another channel are applied meanwhile.

import { keysOf } from '#test/bench/rig/channel-keys'
import { Caller, PASSWORD, textOf } from '#test/bench/rig/caller'
import { startGateway } from '#test/bench/rig/gateway'
import { prepareKeyed } from '#test/bench/rig/keyed'
import { cpuSecondsOf } from '#test/bench/rig/processes'
import type { Server } from '#test/bench/rig/server'
import { percentile, spread } from '#test/bench/load/statistics'
import type { Row } from './row.ts'

export const QUERIED_THINGS = 100_000
const WARMING = 3
/** Of each query. */
const REPEATS = 5
const QUIET_MS = 3_000
export const QUERY_GOALS = {
  cpu: { kind: 'at-most', must: 1, aim: 0.3 },
  later: { kind: 'at-most', must: 20, aim: 10 },
} as const

/** Each looks at every Thing. */
const QUERIES: Readonly<Record<string, object>> = {
  filter: { where: { all: [{ attr: 'temperature', above: 25 }, { text: 'sensor 7' }] }, count: true },
  order: { order: { by: { attr: 'humidity' }, descending: true }, limit: 1_000 },
  groups: {
    group_by: [{ prefix: 9 }, { attr: 'online' }],
    aggregate: [{ attr: 'temperature', of: 'mean' }],
    limit: 1,
  },
  cel: { where: { cel: 'attrs.temperature > 25.0 && attrs.humidity < 60' }, count: true },
} // oxfmt-ignore

export interface Queried {
  /** Seconds of CPU of the whole process, by query. */
  readonly cpu: Readonly<Record<string, number>>
  readonly seconds: Readonly<Record<string, number>>
  /** Milliseconds from sending an update to its end. */
  readonly quiet: readonly number[]
  readonly beside: readonly number[]
}

export const QUERY_ROW: Row = {
  name: 'query',
  async measure(session) {
    const runs: Queried[] = []
    for await (const directory of session.directories('query')) {
      const token = await prepareKeyed(directory, { channels: 1, stored: QUERIED_THINGS })
      const server = await startGateway(directory, token)
      try {
        runs.push(await queriesAt(server, token))
      } finally {
        await server.stop()
      }
      session.options.say(`  query: ${JSON.stringify(runs.at(-1), rounded)}`)
    }
    const worst = runs.map(({ cpu }) => Math.max(...Object.values(cpu)))
    const later = runs.map(({ quiet, beside }) => p99Of(beside) - p99Of(quiet))
    return [
      {
        row: 'query',
        unit: 's of CPU, the dearest',
        value: spread(worst),
        goal: QUERY_GOALS.cpu,
        details: { things: QUERIED_THINGS, runs },
      },
      {
        row: 'query.turn',
        unit: 'ms later, p99',
        value: spread(later),
        goal: QUERY_GOALS.later,
        details: { things: QUERIED_THINGS },
      },
    ]
  },
}

const rounded = (_: string, value: unknown): unknown => {
  if (Array.isArray(value)) return { p99: p99Of(value as number[]), updates: value.length }
  return typeof value === 'number' ? Math.round(value * 1_000) / 1_000 : value
}

const p99Of = (values: readonly number[]): number =>
  percentile(values.toSorted((one, other) => one - other), 0.99) // oxfmt-ignore

/** Measures the queries at a server; `pids`: the processes whose CPU counts. */
export async function queriesAt(
  server: Server,
  token: string,
  pids: readonly number[] = [server.pid],
): Promise<Queried> {
  const cpuNow = (): number => pids.reduce((sum, pid) => sum + cpuSecondsOf(pid), 0)
  const caller = new Caller(server, token)
  const [password = ''] = keysOf(1)
  const named = { channel_name: 'beside', password: PASSWORD }
  const channel = textOf(await caller.post('/channel/create', named), 'channel_id')
  const proved = { channel_id: channel, password: PASSWORD }
  const key = textOf(await caller.post('/channel/key', proved), 'key')
  const ask = (query: object) => caller.post('/thing/query', { password, ...query })
  for (let turn = 0; turn < WARMING; turn += 1) {
    for (const query of Object.values(QUERIES)) await ask(query)
  }
  const cpu: Record<string, number> = {}
  const seconds: Record<string, number> = {}
  for (const [name, query] of Object.entries(QUERIES)) {
    const [cpuBefore, startMs] = [cpuNow(), performance.now()]
    for (let repeat = 0; repeat < REPEATS; repeat += 1) await ask(query)
    seconds[name] = (performance.now() - startMs) / 1_000 / REPEATS
    cpu[name] = (cpuNow() - cpuBefore) / REPEATS
  }
  const endMs = performance.now() + QUIET_MS
  const quiet = await updatesWhile(caller, key, () => performance.now() < endMs)
  let isAsking = true
  const asking = (async () => {
    for (const query of Object.values(QUERIES)) {
      for (let repeat = 0; repeat < REPEATS; repeat += 1) await ask(query)
    }
    isAsking = false
  })()
  const beside = await updatesWhile(caller, key, () => isAsking)
  await asking
  return { cpu, seconds, quiet, beside }
}

/** Submits updates one after the other, and waits for the end of each. */
async function updatesWhile(
  caller: Caller,
  key: string,
  goesOn: () => boolean,
): Promise<readonly number[]> {
  const taken: number[] = []
  while (goesOn()) {
    const startMs = performance.now()
    const opId = await caller.submit(key)
    let status = ''
    while (!['sent', 'failed'].includes(status)) {
      status = textOf(await caller.get(`/send_status/${opId}`), 'status')
    }
    taken.push(performance.now() - startMs)
  }
  return taken
}

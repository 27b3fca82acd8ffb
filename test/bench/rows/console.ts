// The console: its size, its first view on a slow processor, and a board of 10,000 Things with
// 10,000 updates a second.

import { spread } from '#test/bench/load/statistics'
import { ConsoleBench, THINGS, UPDATES_PER_SECOND, wireKb } from '#test/bench/rig/console'
import type { Visit, Watching } from '#test/bench/rig/console'
import type { Figure, Row } from './row.ts'
import type { Session } from './session.ts'

/** Seconds for which the board is watched. */
const WATCHED_S = 20
const GOALS = {
  wire: { kind: 'at-most', must: 100, aim: 60 },
  view: { kind: 'at-most', must: 1, aim: 0.5 },
  frames: { kind: 'at-most', must: 2, aim: 0.5 },
  memory: { kind: 'at-most', must: 10, aim: 3 },
} as const

export const CONSOLE_ROW: Row = {
  name: 'console',
  async measure(session) {
    const { runs, secondsPerStep } = session.options
    const visits: Visit[] = []
    const watched: Watching[] = []
    for await (const directory of session.directories('console')) {
      const bench = await ConsoleBench.open(directory)
      try {
        visits.push(await bench.visit())
        watched.push(await bench.watch(Math.min(WATCHED_S, secondsPerStep * 5)))
      } finally {
        await bench.close()
      }
      say(session, visits.at(-1), watched.at(-1))
    }
    return figuresOf(await wireKb(), visits, watched, runs)
  },
}

function say({ options }: Session, visit?: Visit, watching?: Watching): void {
  options.say(`  console: ${JSON.stringify({ ...visit, ...watching })}`)
}

function figuresOf(
  kb: number,
  visits: readonly Visit[],
  watched: readonly Watching[],
  runs: number,
): readonly Figure[] {
  const grown = watched.map(({ heapMb: [early, late] }) => (late / early - 1) * 100)
  const board = { things: THINGS, updatesPerSecond: UPDATES_PER_SECOND, runs, watched }
  return [
    figure('wire', 'KB', [kb], {}),
    figure(
      'view',
      's',
      visits.map(({ firstViewS }) => firstViewS),
      { visits },
    ),
    figure(
      'frames',
      '% > 50 ms',
      watched.map(({ slowPercent }) => slowPercent),
      board,
    ),
    figure('memory', '% more', grown, board),
  ]
}

const figure = (
  part: keyof typeof GOALS,
  unit: string,
  values: readonly number[],
  details: Figure['details'],
): Figure => ({
  row: part === 'frames' ? 'console' : `console.${part}`,
  unit,
  value: spread(values),
  goal: GOALS[part],
  details,
})

// The rows of the embedded engine under Thing updates.

import { spread } from '#test/bench/load/statistics'
import type { Step } from '#test/bench/rig/rig'
import { detailsOf, stepsOf } from './measured.ts'
import type { Measured } from './measured.ts'
import { ratioRow } from './ratio.ts'
import type { Figure, Row } from './row.ts'

/** A figure over steps, as the median with its least and greatest. */
function figureOver(
  measured: Measured,
  figure: Omit<Figure, 'value' | 'details'> & {
    readonly steps: readonly Step[]
    readonly of: (step: Step) => number
  },
): Figure {
  const { steps, of, ...rest } = figure
  return {
    ...rest,
    value: steps.length === 0 ? undefined : spread(steps.map(of)),
    details: { ran: measured.ran, kneePerSecond: measured.knee?.median },
    ...(measured.failure !== undefined && { failure: measured.failure }),
  }
}

const latency: Row = {
  name: 'latency',
  async measure(session) {
    const measured = await session.measure(session.endToEnd('embedded'))
    const steps = measured.half
    const p50 = (of: (step: Step) => number): number => spread(steps.map(of)).median
    const accept = figureOver(measured, {
      row: 'latency.accept-p99',
      unit: 'ms',
      goal: { kind: 'at-most', must: 30, aim: 8 },
      steps,
      of: ({ load }) => load.latency.p99Ms,
    })
    const device = figureOver(measured, {
      row: 'latency.device-p99',
      unit: 'ms',
      goal: { kind: 'at-most', must: 100, aim: 20 },
      steps,
      of: (step) => step.device?.latency.p99Ms ?? Number.NaN,
    })
    return [
      { ...accept, details: { ...accept.details, p50Ms: p50(({ load }) => load.latency.p50Ms) } },
      {
        ...device,
        details: { ...device.details, p50Ms: p50((step) => step.device?.latency.p50Ms ?? NaN) },
      },
    ]
  },
}

const cpuPerSubmission: Row = {
  name: 'cpu-per-submission',
  async measure(session) {
    const measured = await session.measure(session.endToEnd('embedded'))
    const figure = figureOver(measured, {
      row: 'cpu-per-submission',
      unit: 'µs',
      goal: { kind: 'at-most', must: 130, aim: 80 },
      steps: stepsOf(measured),
      of: ({ cpuSeconds, load }) => (cpuSeconds.server / load.accepted) * 1e6,
    })
    return [{ ...figure, details: detailsOf(measured) }]
  },
}

export const EMBEDDED_ROWS: readonly Row[] = [
  ratioRow({
    name: 'accept-embedded',
    denominator: 'D1',
    goal: { kind: 'ratio-at-least', must: 0.32, aim: 0.45 },
    planned: (session) => session.accept('embedded'),
  }),
  ratioRow({
    name: 'end-to-end-embedded',
    denominator: 'D4-embedded',
    goal: { kind: 'ratio-at-least', must: 0.75, aim: 0.95 },
    planned: (session) => session.endToEnd('embedded'),
  }),
  latency,
  cpuPerSubmission,
]

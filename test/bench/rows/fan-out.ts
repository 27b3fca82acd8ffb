// Deliveries into one channel with as many subscribers as it may have.

import { join } from 'node:path'

import { spread } from '#test/bench/load/statistics'
import { FanOut } from '#test/bench/rig/fan-out'
import type { Row } from './row.ts'
import type { Session } from './session.ts'

const GOAL = { kind: 'ratio-at-least', must: 0.2, aim: 0.5 } as const
const SHARED = { row: 'fan-out', unit: 'deliveries/s', goal: GOAL } as const

export const FAN_OUT_ROW: Row = {
  name: 'fan-out',
  async measure(session) {
    try {
      const { product, topics } = await measured(session)
      const ratio = spread(product.map((rate, run) => rate / (topics[run] ?? Number.NaN)))
      const denominator = { id: 'D7', value: spread(topics), ratio } as const
      return [{ ...SHARED, value: spread(product), denominator, details: { product, topics } }]
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error)
      return [{ ...SHARED, value: undefined, failure, details: {} }]
    }
  },
}

/** Both in turn; the first run of each counts for nothing: until then code compiles. */
async function measured({ options, subjects }: Session) {
  const gateway = await FanOut.product(join(await subjects.scratch(), 'fan-out'))
  const bare = await FanOut.topics()
  try {
    const durationMs = options.secondsPerStep * 1_000
    const product: number[] = []
    const topics: number[] = []
    for (let run = 0; run <= options.runs; run += 1) {
      const [one, other] = [await bare.rate(durationMs), await gateway.rate(durationMs)]
      options.say(`  fan-out: ${Math.round(other)}/s, D7 ${Math.round(one)}/s`)
      if (run === 0) continue
      topics.push(one)
      product.push(other)
    }
    return { product, topics }
  } finally {
    await Promise.all([gateway.stop(), bare.stop()])
  }
}

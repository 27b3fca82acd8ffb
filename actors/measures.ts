// The metrics of the actors.

import { OPERATION_STATUSES } from '#domain/operation'
import type { Meter } from '#domain/telemetry'
import type { ChannelDirectory } from './channel.ts'
import type { DecidedTurn, TurnEnd } from './turn.ts'

export interface Measures {
  readonly turns: () => number
  readonly submissions: () => number
  readonly retried: () => void
  /** Counts a turn that ends before the last of its submissions. (turn/2) */
  readonly cut: () => void
  /** Counts a deadline that is put off. */
  readonly putOff: () => void
  readonly turn: (
    seconds: number,
    submissions: number,
    end: Extract<TurnEnd, { kind: 'committed' }>,
  ) => void
  /** Counts what the rules of a committed turn did. */
  readonly rules: (turn: Pick<DecidedTurn, 'channels'>) => void
}

const RESULTS = ['opened', 'updated', 'closed', 'sent'] as const

/** Registers the metrics of a system once. */
export function measuresOf(meter: Meter, directory: ChannelDirectory): Measures {
  meter.gauge('live_actors', {}, () => directory.size)
  meter.gauge('cached_entities', {}, () => directory.remembered)
  meter.gauge('cached_bytes', {}, () => directory.bytes)
  meter.gauge('live_rules', {}, () => directory.rules)
  meter.gauge('compiled_rules', {}, () => directory.compiledRules)
  const failed = meter.counter('rule_failures_total', {})
  const fired = new Map(
    RESULTS.map((result) => [result, meter.counter('rule_firings_total', { result })] as const),
  )
  const took = meter.histogram('turn_seconds', {})
  const held = meter.histogram('turn_submissions', {})
  const dead = meter.counter('dead_letters_total', {})
  const ended = new Map(
    OPERATION_STATUSES.map((status) => [status, meter.counter('operations_total', { status })]),
  )
  let turns = 0
  let applied = 0
  return {
    turns: () => turns,
    submissions: () => applied,
    retried: meter.counter('turns_retried_total', {}),
    cut: meter.counter('turns_cut_total', {}),
    putOff: meter.counter('deadlines_put_off_total', {}),
    rules: ({ channels }) => {
      for (const { turn } of channels.values()) {
        const effects = turn.ruleEffects
        if (effects === undefined) continue
        for (const { count } of effects.failures) failed(count)
        for (const [result, count] of fired)
          if (effects.firings[result] > 0) count(effects.firings[result])
      }
    },
    turn: (seconds, submissions, end) => {
      turns += 1
      applied += submissions
      took(seconds)
      held(submissions)
      if (end.deadLetters > 0) dead(end.deadLetters)
      // An operation that waits for a provider has not ended: dispatch counts it at its end.
      const queued = new Set(end.queued)
      for (const { opId, status } of end.operations) {
        // One that is scheduled has not ended either.
        if (!queued.has(opId) && status !== 'scheduled') ended.get(status)?.()
      }
    },
  }
}

// Runs trials of rules over the history of their channels, between requests.
//
// Invariants:
//   rule-trials/1. A trial reads a bounded part of the history, page by page, and writes nothing.

import type { FeedEntry } from '#domain/feed'
import type { ChannelId, RuleId } from '#domain/identity'
import type { Answer, NowMs } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import type { ReadStore } from '#domain/store-ports'
import type { Meter } from '#domain/telemetry'
import { FewAtOnce, inSlices } from '#src/acceptance/queries/few-at-once'
import { Trial } from '#src/rules/trial'
import type { RuleTrial, Tried } from '#src/schemas/rules/rule-requests'

interface TrialPorts {
  readonly read: Pick<ReadStore, 'history'>
  readonly nowMs: NowMs
  /** Runs a task once the requests that have arrived are read. */
  readonly soon: Runtime['soon']
  readonly meter: Meter
}

/** Trials that run at a time. */
export const TRIALS_MAX = 2
/** Entries of the feed that one trial reads, and those of a page. */
const TRIAL_ENTRIES_MAX = 50_000
const PAGE_ENTRIES = 500

export class RuleTrials {
  readonly #ports: TrialPorts
  readonly #few = new FewAtOnce({
    ofChannel: 1,
    max: TRIALS_MAX,
    what: 'trials of rules',
    retryAfterMs: 1_000,
  })

  constructor(ports: TrialPorts) {
    this.#ports = ports
    ports.meter.gauge('rule_trials', {}, () => this.#few.running)
  }

  /** Returns what a rule would have opened or sent; rate_limited or server_busy beyond bounds. */
  run(channelId: ChannelId, request: RuleTrial): Promise<Answer<Tried>> {
    return this.#few.run(channelId, () => this.#try(channelId, request))
  }

  async #try(channelId: ChannelId, { rule, from = 0, to }: RuleTrial): Promise<Tried> {
    const trial = new Trial({ ruleId: TRIED, version: '', since: 0, rule })
    const { read, nowMs, soon } = this.#ports
    const end = to ?? nowMs()
    let entries = 0
    let afterSeq: number | undefined = 0
    // rule-trials/1
    while (afterSeq !== undefined && entries < TRIAL_ENTRIES_MAX && !trial.isFull) {
      const page = { channelId, models: ['thing'], afterSeq, limit: PAGE_ENTRIES } as const
      const { items, next }: Page = await read.history(page)
      const within = items.filter(({ acceptedAt }) => acceptedAt <= end)
      await inSlices(soon, trial, untilFull(trial, taking(trial, within)))
      entries += within.length
      afterSeq = next
    }
    if (afterSeq === undefined) await inSlices(soon, trial, untilFull(trial, trial.pass(end)))
    trial.end(end)
    const firings = trial.firings.filter(({ firedAt }) => firedAt >= from)
    return { firings, entries, isComplete: afterSeq === undefined && !trial.isFull }
  }
}

type Page = Awaited<ReturnType<ReadStore['history']>>

function* taking(trial: Trial, entries: readonly FeedEntry[]): Generator<void> {
  for (const entry of entries) {
    yield* trial.take(entry)
    yield
  }
}

function* untilFull(trial: Trial, parts: Generator<void>): Generator<void> {
  while (!trial.isFull && parts.next().done !== true) yield
}

const TRIED = 'tried' as RuleId

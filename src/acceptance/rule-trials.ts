// Runs trials of rules over the history of their channels, between requests.
//
// Invariants:
//   rule-trials/1. One trial of a channel runs at a time, and few in all: the next one is refused.
//   rule-trials/2. A trial reads a bounded part of the history, page by page, and writes nothing.
//     It runs for some milliseconds at a time, counted in steps, and requests go on in between.

import { fault } from '#domain/fault'
import type { FeedEntry } from '#domain/feed'
import type { ChannelId, RuleId } from '#domain/identity'
import type { Answer, NowMs } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import type { ReadStore } from '#domain/store-ports'
import type { Meter } from '#domain/telemetry'
import { Trial } from '#src/rules/trial'
import type { RuleTrial, Tried } from '#src/schemas/rules/rule-requests'

export interface TrialPorts {
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
/** Steps after which it pauses: some 2 ms, and one reading more at worst. */
const SLICE_STEPS = 20_000

const RETRY_AFTER_MS = 1_000
const BUSY = fault('server_busy', {
  detail: 'other trials of rules run now',
  retryAfterMs: RETRY_AFTER_MS,
})
const CHANNEL_BUSY = fault('rate_limited', {
  detail: 'another trial of a rule of this channel runs now',
  retryAfterMs: RETRY_AFTER_MS,
})

export class RuleTrials {
  readonly #ports: TrialPorts
  readonly #running = new Set<ChannelId>()

  constructor(ports: TrialPorts) {
    this.#ports = ports
    ports.meter.gauge('rule_trials', {}, () => this.#running.size)
  }

  /** Returns what a rule would have opened or sent; rate_limited or server_busy beyond bounds. */
  async run(channelId: ChannelId, request: RuleTrial): Promise<Answer<Tried>> {
    if (this.#running.has(channelId)) return CHANNEL_BUSY // rule-trials/1
    if (this.#running.size >= TRIALS_MAX) return BUSY // rule-trials/1
    this.#running.add(channelId)
    try {
      return await this.#try(channelId, request)
    } finally {
      this.#running.delete(channelId)
    }
  }

  async #try(channelId: ChannelId, { rule, from = 0, to }: RuleTrial): Promise<Tried> {
    const trial = new Trial({ ruleId: TRIED, version: '', since: 0, rule })
    const end = to ?? this.#ports.nowMs()
    let entries = 0
    let afterSeq: number | undefined = 0
    // rule-trials/2
    while (afterSeq !== undefined && entries < TRIAL_ENTRIES_MAX && !trial.isFull) {
      const page = { channelId, model: 'thing', afterSeq, limit: PAGE_ENTRIES } as const
      const { items, next }: Page = await this.#ports.read.history(page)
      const within = items.filter(({ acceptedAt }) => acceptedAt <= end)
      await this.#inSlices(trial, taking(trial, within))
      entries += within.length
      afterSeq = next
    }
    if (afterSeq === undefined) await this.#inSlices(trial, trial.pass(end))
    const firings = trial.firings.filter(({ firedAt }) => firedAt >= from)
    return { firings, entries, isComplete: afterSeq === undefined && !trial.isFull }
  }

  /** Goes on until a trial is full, or its parts are done. */
  async #inSlices(trial: Trial, parts: Generator<void>): Promise<void> {
    let end = trial.steps + SLICE_STEPS
    while (!trial.isFull && parts.next().done !== true) {
      if (trial.steps < end) continue
      await new Promise<void>((resolve) => this.#ports.soon(resolve)) // rule-trials/2
      end = trial.steps + SLICE_STEPS
    }
  }
}

type Page = Awaited<ReturnType<ReadStore['history']>>

function* taking(trial: Trial, entries: readonly FeedEntry[]): Generator<void> {
  for (const entry of entries) {
    yield* trial.take(entry)
    yield
  }
}

const TRIED = 'tried' as RuleId

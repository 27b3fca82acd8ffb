// Delivers one push: waits for a slot, sends the push, and gives its ending.
//
// Invariants:
//   delivery/1. While a push is deferred, later pushes of the same route wait as long; those of a
//     newer route of the device wait until the store has it.
//   delivery/2. After the provider said that a token is gone, this process does not use it again.
//   delivery/3. This process sends no push that has expired, or whose claim has run out.
//   delivery/4. Every push releases its slot, even one that meets a defect.

import { endedPush } from '#domain/push'
import type { EndedPush, Outcome, Provider, Push, PushEnding, Trouble } from '#domain/push'
import { doubledMs } from '#domain/bounds/backoff'
import type { Circuit, Health } from './circuit.ts'
import type { Concurrency, Feedback } from './concurrency.ts'
import type { Measures } from './measures.ts'
import type { HeldPushes } from './held-pushes.ts'

interface DeliveryPorts {
  readonly provider: Provider
  readonly concurrency: Concurrency
  readonly circuit: Circuit
  readonly claimed: Pick<HeldPushes, 'maySend'>
  readonly measure: Measures
  readonly nowMs: () => number
  readonly monotonicMs: () => number
  readonly random: () => number
}

/** The least delay of a deferred push, in milliseconds. */
const DEFERRAL_MS_MIN = 1_000

/** The time for which this process remembers a gone route: longer than a push stays in flight. */
const GONE_KEPT_MS = 60_000

interface Deferral {
  readonly untilMs: number
  /** The route that was refused. */
  readonly revision: number
  /** Deferred pushes of the device that the store has not written yet. */
  unwritten: number
}

interface Gone {
  /** The newest revision of the gone route. */
  readonly revision: number
  readonly atMs: number
}

/** The provider's health when it refuses a push for now, by the party that the refusal concerns. */
const HEALTH: Readonly<Record<Trouble, Health>> = {
  device: 'healthy',
  provider: 'failing',
  credentials: 'refusing-credentials',
}

export class Delivery {
  readonly #ports: DeliveryPorts
  /** Deferrals by device. (delivery/1) */
  readonly #deferred = new Map<number, Deferral>()
  /** Gone routes by device. (delivery/2) */
  readonly #gone = new Map<number, Gone>()

  constructor(ports: DeliveryPorts) {
    this.#ports = ports
  }

  /** Delivers a push. Gives undefined when it did not send it: its claim ends or gets released. */
  readonly deliver = async (push: Push): Promise<PushEnding | undefined> => {
    const early = this.#endingUnsent(push)
    if (early !== undefined) return early
    const { concurrency, claimed } = this.#ports
    const slot = await concurrency.acquire()
    if (slot === undefined) return undefined
    let feedback: Feedback = 'none'
    try {
      const late = this.#endingUnsent(push)
      if (late !== undefined || !claimed.maySend(push)) return late // delivery/3
      const outcome = await this.#send(push)
      feedback = feedbackOf(outcome)
      return this.#endingOf(push, outcome)
    } finally {
      concurrency.release(slot, feedback) // delivery/4
    }
  }

  /** Notes that the store has written a deferred push, and keeps its order from then on. */
  deferralWritten(push: EndedPush): void {
    const deferral = this.#deferred.get(push.device)
    if (deferral !== undefined) deferral.unwritten -= 1
  }

  /** Forgets ended deferrals and old gone routes; called at intervals. */
  forgetEnded(): void {
    const nowMs = this.#ports.nowMs()
    for (const [device, { untilMs, unwritten }] of this.#deferred) {
      if (untilMs <= nowMs && unwritten <= 0) this.#deferred.delete(device)
    }
    for (const [device, { atMs }] of this.#gone) {
      if (atMs < nowMs - GONE_KEPT_MS) this.#gone.delete(device)
    }
  }

  #endingUnsent(push: Push): PushEnding | undefined {
    const { device, revision } = push.route
    const nowMs = this.#ports.nowMs()
    if (push.expiresAt <= nowMs) return { kind: 'expired', push: endedPush(push) } // delivery/3
    const gone = this.#gone.get(device)?.revision ?? -1
    if (gone >= revision) return { kind: 'superseded', push: endedPush(push) } // delivery/2
    const deferral = this.#deferred.get(device)
    if (deferral === undefined) return undefined
    const untilMs = revision > deferral.revision ? nowMs : deferral.untilMs
    if (untilMs <= nowMs && deferral.unwritten <= 0) return undefined
    deferral.unwritten += 1
    return { kind: 'deferred', push: endedPush(push), untilMs, isAttempt: false } // delivery/1
  }

  async #send(push: Push): Promise<Outcome> {
    const { provider, circuit, measure, monotonicMs } = this.#ports
    const beganMs = monotonicMs()
    const outcome = await provider.send(push)
    measure.sent((monotonicMs() - beganMs) / 1000)
    if (outcome.kind === 'deferred') circuit.observe(HEALTH[outcome.trouble], outcome.reason)
    else circuit.observe('healthy')
    if (outcome.kind !== 'delivered') measure.refused(outcome.reason)
    return outcome
  }

  #endingOf(push: Push, outcome: Outcome): PushEnding {
    switch (outcome.kind) {
      case 'delivered':
        return { kind: 'delivered', push: endedPush(push) }
      case 'rejected':
        return { kind: 'failed', push: endedPush(push), isGone: false }
      case 'gone':
        this.#gone.set(push.route.device, {
          revision: push.route.revision,
          atMs: this.#ports.nowMs(),
        })
        return { kind: 'failed', push: endedPush(push), isGone: true }
      case 'deferred':
        return this.#defer(push, outcome)
    }
  }

  #defer(
    push: Push,
    { trouble, afterMs }: Extract<Outcome, { readonly kind: 'deferred' }>,
  ): PushEnding {
    const { nowMs, random } = this.#ports
    // An attempt counts when the push may be at fault, not when the provider refuses credentials.
    const isAttempt = trouble !== 'credentials'
    const attempts = isAttempt ? push.attempts : 0
    const delayMs = Math.max(DEFERRAL_MS_MIN, backOffMs({ attempts, afterMs, random }))
    const untilMs = Math.min(nowMs() + delayMs, Math.max(push.expiresAt, nowMs()))
    const { device, revision } = push.route
    const unwritten = (this.#deferred.get(device)?.unwritten ?? 0) + 1
    this.#deferred.set(device, { untilMs, revision, unwritten })
    return { kind: 'deferred', push: endedPush(push), untilMs, isAttempt }
  }
}

function feedbackOf(outcome: Outcome): Feedback {
  if (outcome.kind !== 'deferred') return 'answered'
  return outcome.trouble === 'device' ? 'none' : 'failed'
}

// Computes the delay before the next attempt.

const DELAY = { firstMs: 1_000, maxMs: 300_000 }

interface Refusal {
  /** The number of earlier attempts. */
  readonly attempts: number
  /** The delay that the provider asked for, in milliseconds. */
  readonly afterMs?: number | undefined
  /** Returns a number from 0 to below 1. */
  readonly random: () => number
}

/**
 * Returns the milliseconds before the next attempt: exponential back-off with up to a half more at
 * random, and never less than the provider asked for.
 */
export function backOffMs({ attempts, afterMs = 0, random }: Refusal): number {
  const jittered = doubledMs(DELAY, attempts) * (1 + random() / 2)
  // Jitter spreads pushes for which the provider asked for the same delay.
  return Math.ceil(Math.max(jittered, afterMs + (afterMs * random()) / 10))
}

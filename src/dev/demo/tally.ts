// Counts submissions and their deliveries, and measures the time between. The answer to a
// submission and its delivery race each other, so either may come first.

import { keepNewest } from '#domain/bounds/newest'

const PENDING_MAX = 10_000
const LATENCIES_MAX = 10_000

export interface Summary {
  readonly sent: number
  readonly delivered: number
  readonly refused: number
  /** The code of the last refusal; undefined before the first. */
  readonly lastRefusal: string | undefined
  /** Over the newest 10,000 deliveries; undefined before the first. */
  readonly p50Ms: number | undefined
  readonly p99Ms: number | undefined
}

export class Tally {
  #sent = 0
  #delivered = 0
  #refused = 0
  #lastRefusal: string | undefined
  /** Times by op_id: of sending, or of arrival, whichever is known first. */
  readonly #sentAt = new Map<string, number>()
  readonly #arrivedAt = new Map<string, number>()
  readonly #latencies: number[] = []
  #next = 0

  /** The gateway took a submission that was sent at this time. */
  accepted(opId: string, sentAtMs: number): void {
    this.#sent += 1
    const arrivedAt = this.#arrivedAt.get(opId)
    if (arrivedAt === undefined) {
      remember(this.#sentAt, opId, sentAtMs)
      return
    }
    this.#arrivedAt.delete(opId)
    this.#pair(arrivedAt - sentAtMs)
  }

  /** The gateway did not take a submission. */
  refused(code: string): void {
    this.#refused += 1
    this.#lastRefusal = code
  }

  /** The device received a delivery; a repeated one counts once. */
  delivered(opId: string, arrivedAtMs: number): void {
    const sentAt = this.#sentAt.get(opId)
    if (sentAt === undefined) {
      if (!this.#arrivedAt.has(opId)) remember(this.#arrivedAt, opId, arrivedAtMs)
      return
    }
    this.#sentAt.delete(opId)
    this.#pair(arrivedAtMs - sentAt)
  }

  /** True when everything that was sent has arrived. */
  get isComplete(): boolean {
    return this.#delivered >= this.#sent
  }

  summary(): Summary {
    const sorted = this.#latencies.toSorted((a, b) => a - b)
    const at = (share: number): number | undefined =>
      sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
    return {
      sent: this.#sent,
      delivered: this.#delivered,
      refused: this.#refused,
      lastRefusal: this.#lastRefusal,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
    }
  }

  #pair(latencyMs: number): void {
    this.#delivered += 1
    this.#latencies[this.#next] = latencyMs
    this.#next = (this.#next + 1) % LATENCIES_MAX
  }
}

/** Forgets the oldest beyond PENDING_MAX: the gateway never delivers some submissions. */
function remember(times: Map<string, number>, opId: string, atMs: number): void {
  times.set(opId, atMs)
  keepNewest(times, PENDING_MAX)
}

/** One line: counts and latencies. */
export function summaryLine(summary: Summary): string {
  const { sent, delivered, refused, lastRefusal, p50Ms, p99Ms } = summary
  const latency =
    p50Ms === undefined || p99Ms === undefined
      ? 'no latency measured'
      : `latency p50 ${milliseconds(p50Ms)}, p99 ${milliseconds(p99Ms)}`
  const refusals = refused === 0 ? '' : `, ${refused} refused (last: ${lastRefusal})`
  return `${sent} sent, ${delivered} delivered${refusals}, ${latency}`
}

/** The summary as one line of JSON. */
export const summaryJson = (summary: Summary): string =>
  JSON.stringify({
    sent: summary.sent,
    delivered: summary.delivered,
    refused: summary.refused,
    latency_p50_ms: microseconds(summary.p50Ms),
    latency_p99_ms: microseconds(summary.p99Ms),
  })

/** Milliseconds, exact to a microsecond. */
const microseconds = (value: number | undefined): number | undefined =>
  value === undefined ? undefined : Math.round(value * 1000) / 1000

const milliseconds = (value: number): string =>
  value < 10 ? `${value.toFixed(1)} ms` : `${Math.round(value)} ms`

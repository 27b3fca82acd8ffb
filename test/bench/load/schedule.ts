// Decides when requests are due and counts their outcomes. Pure: callers give the times, in
// microseconds.
//
// Invariants:
//   schedule/1. Open loop: request n is due at start + n / rate, whatever the server does. A
//     request that finds no idle connection waits in line, and its latency counts from the time it
//     was due.
//   schedule/2. Every request of the schedule is sent, or the report says so: `due` and `answered`
//     differ.

import type { LoadReport, LoadRequest } from './messages.ts'
import { Latencies } from './statistics.ts'

/** The time after the schedule's end in which waiting requests are still sent. */
const LINE_LIMIT_US = 1_500_000
/** The time after that in which answers are awaited. */
const ANSWER_LIMIT_US = 5_000_000
const US_PER_SECOND = 1_000_000
const US_PER_MS = 1_000

export class Schedule {
  /** Undefined: closed loop, always due until the end. */
  readonly #usBetween: number | undefined
  readonly #due: number
  readonly #startUs: number
  readonly #endUs: number
  readonly #latencies = new Latencies()
  readonly #refused: Record<string, number> = {}
  #sent = 0
  #answered = 0
  #accepted = 0
  #lost = 0
  #lastAnswerUs: number

  constructor({ pace, durationMs }: LoadRequest, nowUs: number) {
    const durationUs = durationMs * US_PER_MS
    this.#usBetween = pace.kind === 'open' ? US_PER_SECOND / pace.ratePerSecond : undefined
    this.#due =
      pace.kind === 'open' ? Math.max(1, Math.floor((durationMs * pace.ratePerSecond) / 1_000)) : 0
    this.#startUs = nowUs
    this.#endUs = nowUs + durationUs
    this.#lastAnswerUs = nowUs
  }

  /** Takes the next request if its time has come; gives when it was due. */
  take(nowUs: number): number | undefined {
    if (this.#usBetween === undefined) {
      if (nowUs >= this.#endUs) return undefined
      this.#sent += 1
      return nowUs
    }
    const dueUs = this.#startUs + this.#sent * this.#usBetween // schedule/1
    const isOver = this.#sent >= this.#due || nowUs > this.#endUs + LINE_LIMIT_US
    if (isOver || dueUs > nowUs) return undefined
    this.#sent += 1
    return dueUs
  }

  answered(status: number, { dueUs, nowUs }: { dueUs: number; nowUs: number }): void {
    this.#answered += 1
    this.#lastAnswerUs = nowUs
    this.#latencies.add(nowUs - dueUs) // schedule/1
    if (status === 200) this.#accepted += 1
    else this.#refused[status] = (this.#refused[status] ?? 0) + 1
  }

  /** A connection broke. */
  lost(): void {
    this.#lost += 1
  }

  /** True when everything was answered, or when the waiting has an end. */
  isOver(nowUs: number): boolean {
    if (nowUs < this.#endUs) return false
    const mayStillSend = this.#sent < this.#due && nowUs <= this.#endUs + LINE_LIMIT_US
    if (!mayStillSend && this.#answered + this.#lost >= this.#sent) return true
    return nowUs > this.#endUs + LINE_LIMIT_US + ANSWER_LIMIT_US
  }

  report(): LoadReport {
    const elapsedMs = Math.max(this.#lastAnswerUs - this.#startUs, 1) / US_PER_MS
    return {
      due: this.#usBetween === undefined ? this.#sent : this.#due, // schedule/2
      answered: this.#answered,
      accepted: this.#accepted,
      refused: this.#refused,
      lost: this.#lost,
      elapsedMs,
      acceptedPerSecond: (this.#accepted / elapsedMs) * 1_000,
      latency: this.#latencies.summary(),
    }
  }
}

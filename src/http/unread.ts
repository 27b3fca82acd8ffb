// Bounds the bytes of large answers that their readers have not taken yet, and the time for taking
// them. (exchange/5)

import { Deadlines } from './deadlines.ts'
import type { DeadlineOptions, Expiring } from './deadlines.ts'

/** Bytes that the library gathers before it writes, less what the head of an answer takes. */
export const GATHERED_BYTES = 15_360
/** Length from which on an answer is counted. */
export const LARGE_BYTES = GATHERED_BYTES
/** Bytes of unread answers over the process: sixty-four pages. */
export const UNREAD_BYTES_MAX = 64 * 2 ** 20
/**
 * The time in which a page of a mebibyte passes at 17 KiB a second, the pace of a bad mobile
 * connection.
 */
const READ_WITHIN_MS = 60_000

export const isLarge = (body: string | Uint8Array): boolean => body.length >= LARGE_BYTES

export interface UnreadOptions extends Omit<DeadlineOptions, 'timeoutMs'> {
  /** Called for each answer whose reader took too long. */
  readonly answerCut?: () => void
}

export class Unread {
  readonly #deadlines: Deadlines
  readonly #answerCut: () => void
  #bytes = 0

  constructor({ answerCut = () => undefined, ...options }: UnreadOptions) {
    this.#deadlines = new Deadlines({ ...options, timeoutMs: READ_WITHIN_MS })
    this.#answerCut = answerCut
  }

  /** Bytes of all answers together. */
  get bytes(): number {
    return this.#bytes
  }

  hasRoomFor(body: string | Uint8Array): boolean {
    return !isLarge(body) || this.#bytes + Buffer.byteLength(body) <= UNREAD_BYTES_MAX
  }

  /** Reports the bytes of an answer that are left to take; its time runs from the first report. */
  changed(answer: Expiring, before: number, bytes: number): void {
    this.#bytes += bytes - before
    if (before === 0 && bytes > 0) this.#deadlines.watch(answer)
    if (before > 0 && bytes === 0) this.#deadlines.release(answer)
  }

  /** Counts an answer whose time is over. */
  cut(): void {
    this.#answerCut()
  }

  stop(): void {
    this.#deadlines.stop()
  }
}

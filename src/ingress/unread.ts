// Large answers whose readers have not taken them yet: their bytes are held here until they do.
// (exchange/5)

import { Deadlines } from './deadlines.ts'
import type { DeadlineOptions, Expiring } from './deadlines.ts'

/** Length from which on an answer is counted; shorter ones fit what a connection buffers. */
export const LARGE_BYTES = 16_384
/** Sixty-four pages. */
export const UNREAD_BYTES_MAX = 64 * 2 ** 20
/** A page of a mebibyte at 17 KiB a second, the pace of a bad mobile connection. */
const READ_WITHIN_MS = 60_000

export const isLarge = (body: string | Uint8Array): boolean => body.length >= LARGE_BYTES

export interface UnreadOptions extends Omit<DeadlineOptions, 'timeoutMs'> {
  /** Told of each answer whose reader took too long. */
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

  /** An answer has so many bytes left to be taken; its time runs from the first such moment. */
  changed(answer: Expiring, before: number, bytes: number): void {
    this.#bytes += bytes - before
    if (before === 0 && bytes > 0) this.#deadlines.watch(answer)
    if (before > 0 && bytes === 0) this.#deadlines.release(answer)
  }

  /** The time of an answer is over. */
  cut(): void {
    this.#answerCut()
  }

  stop(): void {
    this.#deadlines.stop()
  }
}

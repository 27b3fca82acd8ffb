// Counts the entries of a device's feeds, by searching the text of their frames.
//
// Invariants:
//   entry-counter/1. An entry counts once: only a seq beyond the channel's last one is new.
//   entry-counter/2. What was passed over is counted, so that entries + skipped is what the feeds
//     hold.

import { DUE_BASE_US } from './payload.ts'

export interface Tally {
  entries: number
  repeated: number
  skipped: number
  gaps: number
  synced: number
  closed: number
  caughtUp: number
}

export const emptyTally = (): Tally => ({
  entries: 0,
  repeated: 0,
  skipped: 0,
  gaps: 0,
  synced: 0,
  closed: 0,
  caughtUp: 0,
})

export interface CountedEntry {
  readonly channel: string
  readonly seq: number
  /** When its submission was due; undefined for one that no schedule made. */
  readonly dueUs: number | undefined
}

export class EntryCounter {
  readonly #tally: Tally
  readonly #lastSeq = new Map<string, number>()

  constructor(tally: Tally) {
    this.#tally = tally
  }

  /** Counts the entry of one `deliver` frame; undefined when it came before. */
  count(text: string): CountedEntry | undefined {
    const channel = textAt(text, '"channel_id":"')
    const seq = numberAt(text, '"seq":')
    const last = this.#lastSeq.get(channel) ?? 0
    if (seq <= last) {
      this.#tally.repeated += 1 // entry-counter/1
      return undefined
    }
    this.#lastSeq.set(channel, seq)
    this.#tally.entries += 1
    this.#tally.skipped += seq - last - 1 // entry-counter/2
    if (text.includes('"action":"sync"')) this.#tally.synced += 1
    const due = numberAt(text, '"due":')
    return { channel, seq, dueUs: due > 0 ? due - DUE_BASE_US : undefined }
  }
}

/** More digits than any number in a frame has. */
const DIGITS_MAX = 17

/** The number behind a name; 0 when the name does not occur. */
export function numberAt(text: string, name: string): number {
  const found = text.indexOf(name)
  if (found < 0) return 0
  const start = found + name.length
  return Number.parseInt(text.slice(start, start + DIGITS_MAX), 10)
}

/** The text between a name and the next quotation mark. */
function textAt(text: string, name: string): string {
  const found = text.indexOf(name) + name.length
  return text.slice(found, text.indexOf('"', found))
}

// Bounds the entries that a session has sent and its device has not acknowledged.
//
// Invariants:
//   session-window/1. At most WINDOW_ENTRIES_MAX entries and WINDOW_BYTES_MAX bytes are
//     unacknowledged.
//   session-window/2. A window that refused an entry stays shut until acknowledgements and the
//     carrier have brought it to half, so that a slow device gets pages and not single entries. It
//     never shuts at half or below, so an acknowledgement or a drain that opens it always follows.

import { WINDOW_BYTES_MAX, WINDOW_ENTRIES_MAX } from './signals.ts'

/** Entries of room below which a page is not worth reading. */
const ROOM_MIN = 32

export class Window {
  #entries = 0
  #bytes = 0
  #buffered = 0
  #isShut = false

  get unacknowledged(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#entries, bytes: this.#bytes }
  }

  /** Counts an entry that the session sends now; false when the entry must wait. */
  take(bytes: number): boolean {
    if (this.#isShut) return false
    // session-window/1
    const isFull = this.#entries >= WINDOW_ENTRIES_MAX || this.#bytes + bytes > WINDOW_BYTES_MAX
    if (isFull || this.#buffered > WINDOW_BYTES_MAX) {
      this.#isShut = true
      return false
    }
    this.#entries += 1
    this.#bytes += bytes
    return true
  }

  /** Frees the room of acknowledged or dropped entries. */
  release(entries: number, bytes: number): void {
    this.#entries -= entries
    this.#bytes -= bytes
    this.#openAtHalf()
  }

  /** Takes the number of bytes that the carrier holds now. */
  buffer(bytes: number): void {
    this.#buffered = bytes
    this.#openAtHalf()
  }

  /** The most entries of the next page, beside `reserved` ones; 0 for no page now. */
  room(reserved: number): number {
    if (this.#isShut) return 0
    const room = WINDOW_ENTRIES_MAX - this.#entries - reserved
    if (room >= ROOM_MIN) return room
    if (reserved === 0) this.#isShut = true // session-window/2: more than half is taken
    return 0
  }

  /** Opens the window at half. (session-window/2) */
  #openAtHalf(): void {
    const isHalf =
      this.#entries <= WINDOW_ENTRIES_MAX / 2 &&
      this.#bytes <= WINDOW_BYTES_MAX / 2 &&
      this.#buffered <= WINDOW_BYTES_MAX / 2
    if (isHalf) this.#isShut = false
  }
}

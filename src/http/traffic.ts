// The state that the exchanges of one listener share, and its bounds.

import type { Deadlines } from './deadlines.ts'
import type { Header } from './reply.ts'
import type { Unread } from './unread.ts'

/** The state that all exchanges of a listener share. */
export interface Traffic {
  /** Headers of every answer. */
  readonly commonHeaders: readonly Header[]
  readonly isDraining: boolean
  readonly deadlines: Deadlines
  readonly unread: Unread
  /** One for each answer that is being streamed. */
  readonly streams: Set<AbortController>
  /** One for each answer that a mounted handler streams: these are not in flight. */
  readonly mountedStreams: Set<AbortController>
  /** Told of each connection that becomes a WebSocket. */
  readonly upgraded: () => void
  inFlight: number
  bodyBytes: number
  /** One of those in flight is answered, or its caller is gone. */
  settled(): void
}

/** Answers that mounted handlers stream at once: beyond, server_busy. */
export const MOUNTED_STREAMS_MAX = 1_000

// The ports that start the threads of a gateway: as worker threads, or inside one thread.

import type { Runtime } from '#domain/runtime'
import type { Logger } from '#domain/telemetry'
import type { FrontendEnd, ThreadEnds, ThreadName, ThreadSettings } from './contract.ts'
import type { Servers } from './servers.ts'
import type { Rpc } from '#src/threads/rpc'
import type { PeerWire, ThreadWire } from '#src/threads/wire'

/** The input of a thread's start. */
export interface ThreadStart<Name extends ThreadName = ThreadName> {
  readonly name: Name
  readonly settings: ThreadSettings
  /**
   * A wire to another thread of a sole process: engine and log have one to each other, dispatch has
   * one to the engine.
   */
  readonly peer?: PeerWire
}

/** A started thread, as its starter sees it. */
export interface Spawned {
  readonly wire: ThreadWire
  /** Ends the thread at once, also in the middle of work. */
  readonly terminate: () => Promise<unknown>
}

export interface Threads {
  /** Makes a wire and gives its two ends, one for each of two threads. */
  wire(): readonly [PeerWire, PeerWire]
  /** Starts a thread, which calls `onEnd` at its end, also after `terminate`. */
  spawn(start: ThreadStart, onEnd: (reason: Error) => void): Spawned
}

/** The ports from which a thread composes its services. */
export interface ThreadEdge<Name extends ThreadName = ThreadName> {
  /** RPC with the frontend's thread. */
  readonly rpc: Rpc<ThreadEnds[Name], FrontendEnd>
  readonly peer?: PeerWire
  readonly logger: Logger
  /** Tells the frontend why this thread cannot go on. */
  readonly fail: (reason: string) => void
  readonly runtime: Runtime
  /** Absent for files and the network. */
  readonly servers?: Servers | undefined
  /** Starts threads that end before this one. */
  readonly threads: Threads
}

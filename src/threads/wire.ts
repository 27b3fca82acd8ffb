// The carrier of messages between two threads.

/** The part of MessagePort and Worker that RPC uses. It carries plain data, in order. */
export interface Wire {
  postMessage(message: unknown): void
  on(event: 'message', listener: (message: unknown) => void): unknown
}

/** The wire to a started thread, over which its starter can also hand it an end of another wire. */
export interface ThreadWire extends Wire {
  /** Posts a message that holds the end. This thread must not use the end afterwards. */
  hand(message: unknown, end: PeerWire): void
}

/** A wire between two threads that the frontend starts; it reports the end of the other thread. */
export interface PeerWire extends Wire {
  on(event: 'message', listener: (message: unknown) => void): unknown
  on(event: 'close', listener: () => void): unknown
  close(): void
}

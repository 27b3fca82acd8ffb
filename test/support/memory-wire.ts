// Carries messages between two threads inside one thread.

import type { Runtime } from '#domain/runtime'
import type { PeerWire, ThreadWire } from '#src/threads/wire'

type MemoryEnd = PeerWire & ThreadWire

/**
 * Two ends of a wire inside this thread. Each message arrives through `soon` as a copy, so that the
 * ends share no object. Messages wait for the first listener, as in a MessagePort.
 */
export function memoryWire({ soon }: Pick<Runtime, 'soon'>): readonly [MemoryEnd, MemoryEnd] {
  const inboxes = [new Inbox(), new Inbox()] as const
  const close = (): void => soon(() => inboxes.forEach((inbox) => inbox.end()))
  const end = (own: Inbox, other: Inbox): MemoryEnd => ({
    postMessage: (message) => {
      const copy: unknown = structuredClone(message)
      soon(() => other.take(copy))
    },
    // The end of a wire has no copy.
    hand: (message) => soon(() => other.take(message)),
    on: (event: 'message' | 'close', listener: (message?: unknown) => void) => {
      if (event === 'close') own.onEnd(listener)
      else soon(() => own.listen(listener))
    },
    close,
  })
  const [one, other] = inboxes
  return [end(one, other), end(other, one)]
}

/** Messages for one end, which wait for the first listener. */
class Inbox {
  readonly #early: unknown[] = []
  readonly #endListeners: (() => void)[] = []
  #listener: ((message: unknown) => void) | undefined
  #isClosed = false

  listen(listener: (message: unknown) => void): void {
    this.#listener = listener
    for (const message of this.#early.splice(0)) this.take(message)
  }

  /** Calls a listener at the end of the wire, or at once when the wire has ended. */
  onEnd(listener: () => void): void {
    if (this.#isClosed) listener()
    else this.#endListeners.push(listener)
  }

  take(message: unknown): void {
    if (this.#isClosed) return
    if (this.#listener === undefined) this.#early.push(message)
    else this.#listener(message)
  }

  end(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const listener of this.#endListeners) listener()
  }
}

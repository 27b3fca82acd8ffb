// What the client takes from the platform it runs on. Every member can be replaced, so that tests
// need no network and no waiting.

export interface Runtime {
  readonly fetch: typeof globalThis.fetch
  openSocket(url: string, protocol: string): WebSocket
  /** Calls back once after a delay. Gives the way to cancel it. */
  after(delayMs: number, callback: () => void): () => void
  /** From 0 up to, without, 1. */
  random(): number
}

/** The web platform: browsers, Node 22 and others. */
export const WEB: Runtime = {
  fetch: (...request) => globalThis.fetch(...request),
  openSocket: (url, protocol) => new WebSocket(url, protocol),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
  random: () => {
    const [value = 0] = crypto.getRandomValues(new Uint32Array(1))
    return value / 2 ** 32
  },
}

/** Resolves after a delay, or once the signal is aborted. */
export async function pause(
  runtime: Runtime,
  delayMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (signal?.aborted === true) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = (): void => resolve()
  const cancel = runtime.after(delayMs, end)
  signal?.addEventListener('abort', end)
  await promise
  cancel()
  signal?.removeEventListener('abort', end)
}

export interface BackoffRange {
  readonly firstMs: number
  readonly maxMs: number
}

/**
 * A random delay before the attempt with this number, counted from 0: up to `firstMs`, doubling up
 * to `maxMs`. Random over the whole span, so that a fleet that lost its gateway together comes back
 * apart.
 */
export function backoffMs(runtime: Runtime, attempt: number, range: BackoffRange): number {
  const span = Math.min(range.maxMs, range.firstMs * 2 ** Math.min(attempt, 30))
  return Math.ceil(runtime.random() * span)
}

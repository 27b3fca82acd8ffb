// Time, chance and network of the platform on which the client runs. Tests replace every member, so
// they need no network and no waiting.

import { doubledMs } from '#domain/bounds/backoff'
import type { BackoffRange } from '#domain/bounds/backoff'
import { ofAnyDelay } from '#domain/runtime'

/** The part of fetch that the client uses; `globalThis.fetch` is one. */
export type Fetch = (url: string, init?: FetchInit) => Promise<FetchAnswer>

export interface FetchInit {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly signal?: AbortSignal
}

export interface FetchAnswer extends Pick<Response, 'ok' | 'status' | 'text'> {
  readonly headers: Pick<Headers, 'get'>
  /** What comes of a long answer, while it comes. */
  readonly body?: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | null
}

export interface ClientRuntime {
  /** Calls back once after a delay. Gives a function that cancels it. */
  readonly after: (delayMs: number, callback: () => void) => () => void
  /** A random whole number from 0 and less than `below`, which is at most 2 ** 32. For jitter. */
  readonly random: (below: number) => number
  readonly fetch: Fetch
  /** Unguessable random bytes. */
  readonly entropy: (bytes: number) => Uint8Array<ArrayBuffer>
  /** Takes an error of the caller's own code that no promise can carry. */
  readonly report: (error: unknown) => void
}

/** The runtime of the web platform: browsers, Node 22 and others. */
export const WEB: ClientRuntime = {
  fetch: (...request) => globalThis.fetch(...request),
  entropy: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
  after: ofAnyDelay((delayMs, callback) => {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  }),
  random: (below) => {
    const [value = 0] = crypto.getRandomValues(new Uint32Array(1))
    return Math.floor((value / 2 ** 32) * below)
  },
  report: (error) =>
    queueMicrotask(() => {
      throw error
    }),
}

/** Resolves after a delay, or once the signal is aborted. */
export async function pause(
  { after }: Pick<ClientRuntime, 'after'>,
  delayMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (signal?.aborted === true) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = (): void => resolve()
  const cancel = after(delayMs, end)
  signal?.addEventListener('abort', end)
  await promise
  cancel()
  signal?.removeEventListener('abort', end)
}

/**
 * A random delay before the attempt with this number, counted from 0: up to `firstMs`, doubling up
 * to `maxMs`. It is random over the whole span, so that a fleet that lost its gateway at once does
 * not reconnect at once.
 */
export function backoffMs(
  { random }: Pick<ClientRuntime, 'random'>,
  attempt: number,
  range: BackoffRange,
): number {
  return random(doubledMs(range, attempt) + 1)
}

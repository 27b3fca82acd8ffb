// The machine's own clock and timers, for tests against real servers.

export const realTimers = {
  after(delayMs: number, callback: () => void): () => void {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
}

export const monotonicMs = (): number => performance.now()

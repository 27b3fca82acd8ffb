// The subscribers' process: every device session of a run, on an event loop of its own.

import { emptyTally } from './entry-counter.ts'
import type { SubscriberOrder, SubscriberReport } from './messages.ts'
import { Latencies } from './statistics.ts'
import { Subscription } from './subscription.ts'

const POLL_MS = 2

const latencies = new Latencies()
let tally = emptyTally()
let subscriptions: Subscription[] = []

const report = (): SubscriberReport => ({ ...tally, latency: latencies.summary() })

function awaited(entries: number, caughtUp: number, timeoutMs: number): Promise<void> {
  const endMs = performance.now() + timeoutMs
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      const isThere = tally.entries + tally.skipped >= entries && tally.caughtUp >= caughtUp
      if (!isThere && performance.now() < endMs) return
      clearInterval(timer)
      resolve()
    }, POLL_MS)
  })
}

async function obey(order: SubscriberOrder): Promise<unknown> {
  switch (order.kind) {
    case 'connect': {
      tally = emptyTally()
      const { target } = order
      const { ports, token, replayed = [] } = target
      subscriptions = target.deviceKeys.map((_, index) => {
        const port = ports[index % ports.length] ?? 0
        return new Subscription({ port, token }, { tally, latencies })
      })
      await Promise.all(
        subscriptions.map((one, index) =>
          one.greet({ deviceKey: target.deviceKeys[index] ?? '', token, replayed }),
        ),
      )
      return report()
    }
    case 'mark':
      latencies.clear()
      return report()
    case 'await':
      await awaited(order.entries, order.caughtUp ?? 0, order.timeoutMs)
      return report()
    case 'disconnect':
      for (const one of subscriptions) one.close()
      subscriptions = []
      return {}
  }
}

process.on('message', (order: SubscriberOrder) => {
  void obey(order).then((answer) => process.send?.(answer))
})
// The bench is gone.
process.on('disconnect', () => process.exit())

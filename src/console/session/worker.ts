// The worker that has the session of one page.

import { indexedDbPositions } from '#src/client/indexed-db-positions'
import { openReplica } from '#src/client/replica'
import { SessionHost } from './host.ts'
import type { SessionOrder, SessionReport } from './messages.ts'

interface WorkerScope {
  postMessage(report: SessionReport): void
  addEventListener(name: 'message', listener: (event: { readonly data: unknown }) => void): void
}

const scope = globalThis as unknown as WorkerScope
const host = new SessionHost({
  post: (report) => scope.postMessage(report),
  openReplica,
  positions: indexedDbPositions,
})
// Orders come from the page that made the worker, and from nobody else.
scope.addEventListener('message', ({ data }) => host.take(data as SessionOrder))

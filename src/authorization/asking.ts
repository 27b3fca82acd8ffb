// The request that is being handled, for those that the library calls without it.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage } from 'node:http'

/** The parts of a request that the log and budgets take. */
export interface Asking {
  readonly requestId: string
  /** The address of the caller, also behind a trusted proxy. */
  readonly address: string
}

const current = new AsyncLocalStorage<Asking>()
const NOBODY: Asking = { requestId: '', address: 'unknown' }

export const askingOf = ({ headers, socket }: IncomingMessage): Asking => ({
  requestId: String(headers['x-request-id'] ?? ''),
  address: socket.remoteAddress ?? 'unknown',
})

/** Runs a task for a request: within it `asking` gives the request. */
export const whileAsking = <Value>(request: Asking, task: () => Value): Value =>
  current.run(request, task)

/** The request for which this task runs. */
export const asking = (): Asking => current.getStore() ?? NOBODY

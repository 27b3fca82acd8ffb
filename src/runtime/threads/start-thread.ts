// Starts a thread of this process for the frontend, and stops it.

import type { Logger } from '#domain/telemetry'
import { THREAD_TITLE } from './contract.ts'
import type { FrontendEnd, ThreadEnds, ThreadName } from './contract.ts'
import { ThreadRpc } from '#src/threads/rpc'
import type { ThreadStart, Threads } from './threads.ts'

export interface Thread<Name extends ThreadName> {
  readonly rpc: ThreadRpc<FrontendEnd, ThreadEnds[Name]>
  /** Its services, each by its name. */
  readonly services: ThreadEnds[Name]['services']
  /** Closes the connections and files of the thread, and ends it. */
  readonly stop: () => Promise<void>
}

interface ThreadOwner {
  /** Aborted when the thread is no longer needed before it is ready. */
  readonly signal?: AbortSignal
  readonly threads: Threads
  readonly logger: Logger
  /** Gets the reason when the process cannot go on. */
  readonly onFailure: (reason: string) => void
}

/** Resolves once the thread is ready; rejects with a sentence for the operator. */
export async function startThread<Name extends ThreadName>(
  start: ThreadStart<Name>,
  { threads, logger, onFailure, signal }: ThreadOwner,
): Promise<Thread<Name>> {
  const title = THREAD_TITLE[start.name]
  let isStopping = false
  const ready = Promise.withResolvers<ThreadEnds[Name]['services']>()
  const fail = (error: Error): void => {
    rpc.break(error)
    ready.reject(error)
    if (!isStopping) onFailure(`the ${title} failed: ${error.message}`)
  }
  const { wire, terminate } = threads.spawn(start, fail)
  const rpc = new ThreadRpc<FrontendEnd, ThreadEnds[Name]>(wire)
  signal?.addEventListener('abort', () => ready.reject(signal.reason))
  rpc.onTell('ready', (names) => ready.resolve(rpc.remotes(names)))
  rpc.onTell('failed', (reason) => ready.reject(new Error(reason)))
  rpc.onTell('ended', (reason) => fail(new Error(reason)))
  const services = await ready.promise.catch(async (error: unknown) => {
    isStopping = true
    await terminate()
    throw error
  })
  logger.debug(`the ${title} is ready`)
  return {
    rpc,
    services,
    stop: async () => {
      isStopping = true
      await services.control.close()
      await terminate()
    },
  }
}

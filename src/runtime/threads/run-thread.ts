// Runs a thread over any wire: composes its services and serves them to the frontend.

import type { Runtime } from '#domain/runtime'
import type { Logger } from '#domain/telemetry'
import type { FrontendEnd, ThreadEnds, ThreadName, ThreadSettings } from './contract.ts'
import type { Servers } from './servers.ts'
import { Rpc } from '#src/threads/rpc'
import type { ThreadEdge, ThreadStart, Threads } from './threads.ts'
import type { Wire } from '#src/threads/wire'

interface RunningThread {
  /** The wire to the frontend's thread. */
  readonly wire: Wire
  readonly logger: Logger
  readonly runtime: Runtime
  readonly threads: Threads
  readonly servers?: Servers | undefined
}

/** Returns the services of a thread; rejects with a sentence for the operator. */
type Compose<Name extends ThreadName> = (
  settings: ThreadSettings,
  edge: ThreadEdge<Name>,
) => Promise<ThreadEnds[Name]['services']>

/** Loads the code of each thread in that thread alone. */
const COMPOSE: { readonly [Name in ThreadName]: () => Promise<Compose<Name>> } = {
  log: async () => (await import('#src/runtime/standalone/log-worker')).composeEmbeddedLog,
  engine: async () => (await import('#src/runtime/standalone/engine')).composeEmbeddedEngine,
  'cluster-engine': async () => (await import('#src/runtime/cluster/engine')).composeClusterEngine,
  quic: async () => (await import('#src/runtime/quic/thread')).composeQuic,
  migration: async () => (await import('#src/runtime/standalone/migration')).composeMigration,
  dispatch: async () => (await import('#src/runtime/standalone/dispatch')).composeSoleDispatch,
  'cluster-dispatch': async () =>
    (await import('#src/runtime/cluster/dispatch')).composeClusterDispatch,
}

/** Runs a thread until the frontend ends it. Tells the frontend when it is ready, or why not. */
export async function runThread<Name extends ThreadName>(
  { name, settings, peer }: ThreadStart<Name>,
  { wire, ...ports }: RunningThread,
): Promise<void> {
  const rpc = new Rpc<ThreadEnds[Name], FrontendEnd>(wire)
  const edge = { rpc, ...ports, fail: (reason: string) => rpc.tell('ended', reason) }
  try {
    const compose = await COMPOSE[name]()
    const services = await compose(settings, { ...edge, ...(peer !== undefined && { peer }) })
    rpc.serve(services)
    rpc.tell('ready', Object.keys(services))
  } catch (error) {
    rpc.tell('failed', error instanceof Error ? error.message : String(error))
  }
}

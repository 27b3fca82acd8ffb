// Keeps dispatch running for the frontend, in a thread whose end does not end the gateway. The
// keeper starts it again; a sole process releases its earlier claims, a cluster lets them expire.
//
// Invariants:
//   keeper/1. The end of dispatch ends nothing else, and another thread takes its place.
//   keeper/2. Claimed pushes do not pass through the thread that answers requests: each thread of
//     dispatch has its own store, or a wire of its own to the thread with the jobs.

import type { Probe } from '#domain/ports'
import { PROVIDERS } from '#domain/push/providers'
import { doubledMs } from '#domain/bounds/backoff'
import type { Config } from '#src/config/config'
import type { BackendEdge } from '#src/runtime/backend'
import type { MetricsPart } from '#src/telemetry/meter'
import type { DispatchControl } from '#src/runtime/threads/contract'
import { threadSettings } from '#src/runtime/threads/contract'
import { startThread } from '#src/runtime/threads/start-thread'
import type { Thread } from '#src/runtime/threads/start-thread'
import type { PeerWire } from '#src/threads/wire'

const RESTART = { firstMs: 1_000, maxMs: 60_000 }

type DispatchThread = Thread<'dispatch' | 'cluster-dispatch'>

interface Keeping {
  readonly name: 'dispatch' | 'cluster-dispatch'
  readonly config: Config
  readonly edge: BackendEdge
  /** Makes the wire that each new thread has to the store of its jobs, if that is in another. */
  readonly wire?: () => PeerWire
}

export interface KeptDispatch {
  /** One probe for each provider. */
  readonly probes: readonly Probe[]
  metrics(): Promise<readonly MetricsPart[]>
  drain(): Promise<void>
  close(): Promise<void>
}

/**
 * Returns undefined when this process does not dispatch. Rejects with a sentence for the operator.
 */
export async function keepDispatch(keeping: Keeping): Promise<KeptDispatch | undefined> {
  const { roles, providers } = keeping.config
  const names = PROVIDERS.filter((name) => providers[name] !== undefined)
  if (!roles.dispatch || names.length === 0) return undefined
  const keeper = new Keeper(keeping)
  await keeper.start()
  return {
    probes: names.map((name) => ({ readiness: () => keeper.readinessOf(name) })),
    metrics: () => keeper.metrics(),
    drain: () => keeper.drain(),
    close: () => keeper.close(),
  }
}

class Keeper {
  readonly #keeping: Keeping
  #thread: DispatchThread | undefined
  #control: DispatchControl | undefined
  #failures = 0
  #isClosing = false
  #cancel = (): void => {}

  constructor(keeping: Keeping) {
    this.#keeping = keeping
  }

  async start(): Promise<void> {
    const { name, config, edge, wire } = this.#keeping
    const onFailure = (reason: string): void => this.#failed(reason)
    const thread = await startThread<Keeping['name']>(
      { name, settings: threadSettings(config), ...(wire !== undefined && { peer: wire() }) },
      { ...edge, onFailure },
    )
    this.#thread = thread
    this.#control = thread.services.control
    await this.#control.start()
  }

  async readinessOf(name: string): Promise<Awaited<ReturnType<Probe['readiness']>>> {
    const entries = (await this.#control?.readiness()) ?? []
    const entry = entries.find((one) => one.name === name)
    return entry ?? { name, ready: false, detail: 'dispatch starts again', isOptional: true }
  }

  async metrics(): Promise<readonly MetricsPart[]> {
    const part = await this.#control?.metrics().catch(() => undefined)
    return part === undefined ? [] : [part]
  }

  async drain(): Promise<void> {
    this.#isClosing = true
    this.#cancel()
    await this.#control?.drain()
  }

  async close(): Promise<void> {
    this.#isClosing = true
    this.#cancel()
    await this.#thread?.stop()
  }

  #failed(reason: string): void {
    const { edge } = this.#keeping
    if (this.#isClosing || this.#control === undefined) return
    edge.logger.error('dispatch has ended and starts again', { reason })
    this.#thread = undefined
    this.#control = undefined
    this.#restart() // keeper/1
  }

  #restart(): void {
    const { edge } = this.#keeping
    const delayMs = doubledMs(RESTART, this.#failures)
    this.#failures += 1
    this.#cancel = edge.runtime.after(delayMs, () => {
      this.start().catch((error: unknown) => {
        edge.logger.error('dispatch does not start', { reason: String(error) })
        if (!this.#isClosing) this.#restart()
      })
    })
  }
}

// Composes dispatch inside its thread: one dispatcher for each provider that is set up, over one
// store.

import type { Provider, PushStore } from '#domain/push'
import { PROVIDERS } from '#domain/push/providers'
import type { SecretStore } from '#domain/push/secrets'
import { Dispatcher } from '#src/dispatch/dispatcher'
import { PROVIDER_TABLE, openProvider } from '#src/providers/providers'
import type { Metrics } from '#src/telemetry/meter'
import type { DispatchControl, ThreadSettings } from '#src/runtime/threads/contract'
import type { Servers } from '#src/runtime/threads/servers'
import type { ThreadEdge } from '#src/runtime/threads/threads'

/** Random bytes that distinguish this process from earlier ones of the same node name. */
const RUN_BYTES = 6
const CHANCES = 2 ** 32

interface DispatchParts {
  readonly settings: ThreadSettings
  readonly edge: Pick<ThreadEdge, 'logger' | 'runtime' | 'servers'>
  readonly metrics: Metrics
  readonly store: PushStore
  readonly secrets: SecretStore
}

interface Dispatching extends Pick<DispatchControl, 'metrics' | 'readiness' | 'drain' | 'close'> {
  start(): void
  /** Says that there may be new jobs. */
  nudge(): void
}

/** Opens the providers; rejects with a sentence for the operator when one cannot be used. */
export async function composeDispatch(parts: DispatchParts): Promise<Dispatching> {
  const { settings, edge, metrics, store, secrets } = parts
  const { runtime, logger, servers } = edge
  const open: Servers['openProvider'] =
    servers?.openProvider ?? ((name, ports) => openProvider(name, settings.providers, ports))
  const worker = `${settings.nodeId} ${runtime.entropy(RUN_BYTES).toString('hex')}`
  const dispatchers: Dispatcher[] = []
  const providers: Provider[] = []
  for (const name of PROVIDERS) {
    let dispatcher: Dispatcher | undefined
    const credentialsChanged = (): void => dispatcher?.credentialsChanged()
    const providerEdge = { runtime, logger, secrets, meter: metrics.meter, credentialsChanged }
    if (settings.providers[name] === undefined) continue
    const provider = await open(name, providerEdge)
    if (provider === undefined) continue
    dispatcher = new Dispatcher(
      {
        store,
        provider,
        meter: metrics.meter,
        logger,
        timers: runtime,
        nowMs: runtime.nowMs,
        monotonicMs: runtime.monotonicMs,
        random: () => runtime.random(CHANCES) / CHANCES,
      },
      { worker, concurrency: PROVIDER_TABLE[name].concurrency },
    )
    providers.push(provider)
    dispatchers.push(dispatcher)
  }
  const stop = once(() => Promise.all(dispatchers.map((dispatcher) => dispatcher.stop())))
  return {
    start: () => dispatchers.forEach((dispatcher) => dispatcher.start()),
    nudge: () => dispatchers.forEach((dispatcher) => dispatcher.nudge()),
    metrics: () => metrics.part(),
    readiness: () => Promise.resolve(dispatchers.map((dispatcher) => dispatcher.readiness())),
    drain: async () => void (await stop()),
    close: async () => {
      await stop()
      await Promise.all(providers.map((provider) => provider.close()))
    },
  }
}

function once<Value>(work: () => Promise<Value>): () => Promise<Value> {
  let running: Promise<Value> | undefined
  return () => (running ??= work())
}

// The frontend's side of QUIC: a listener whose connections are in a thread of their own.

import type { BackendEdge } from '#src/runtime/backend'
import type { Config } from '#src/config/config'
import type { MetricsPart } from '#src/telemetry/meter'
import { serveSessions } from '#src/threads/carrier-bridge'
import { startThread, threadSettings } from '#src/runtime/threads/start-thread'
import type { Thread } from '#src/runtime/threads/start-thread'
import type { Listener } from '#src/doors/door'
import type { Sessions } from '#src/transports/sessions'

export interface QuicListener extends Listener {
  /** The metrics of its thread. */
  metrics(): Promise<readonly MetricsPart[]>
}

/** `listen` starts the thread, which loads the library. */
export function createQuicThread(
  config: Config,
  edge: BackendEdge,
  sessions: Pick<Sessions, 'open'>,
): QuicListener {
  let thread: Thread<'quic'> | undefined
  return {
    name: 'quic',
    listen: async () => {
      thread = await startThread({ name: 'quic', settings: threadSettings(config) }, edge)
      serveSessions(thread.rpc, (carrier) => sessions.open(carrier))
      return thread.services.listener.listen()
    },
    reload: async () => thread?.services.listener.reload(),
    close: async () => thread?.stop(),
    metrics: async () => (thread === undefined ? [] : [await thread.services.control.metrics()]),
  }
}

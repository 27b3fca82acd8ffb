// QUIC on the frontend's thread: a listener whose connections live in a thread of their own.

import type { BackendEdge } from '#src/runtime/backend'
import type { Config } from '#src/config/config'
import type { MetricsPart } from '#src/telemetry/meter'
import { openSessions } from '#src/threads/carrier-bridge'
import { startThread, threadSettings } from '#src/threads/start-thread'
import type { Thread } from '#src/threads/start-thread'
import type { Listener } from '#src/transports/carrier'
import type { Sessions } from '#src/transports/sessions'

export interface QuicListener extends Listener {
  /** The metrics of its thread. */
  metrics(): Promise<readonly MetricsPart[]>
}

/** Its `listen` starts the thread, and with it the library. */
export function createQuicThread(
  config: Config,
  edge: BackendEdge,
  sessions: Pick<Sessions, 'open'>,
): QuicListener {
  let thread: Thread<'quic'> | undefined
  return {
    carrier: 'quic',
    listen: async () => {
      thread = await startThread({ name: 'quic', settings: threadSettings(config) }, edge)
      openSessions(thread.rpc, (carrier) => sessions.open(carrier))
      return thread.rpc.remote('listener').listen()
    },
    reload: async () => thread?.rpc.remote('listener').reload(),
    close: async () => thread?.stop(),
    metrics: async () =>
      thread === undefined ? [] : [await thread.rpc.remote('control').metrics()],
  }
}

// Composes dispatch of a sole process. The jobs are in the engine's store; the frontend passes the
// calls on.

import type { PushStore } from '#domain/push'
import { composeDispatch } from '#src/runtime/dispatch/dispatch'
import { createMetrics } from '#src/telemetry/meter'
import type { ThreadEnds, ThreadSettings } from '#src/threads/contract'
import type { ThreadEdge } from '#src/threads/threads'

export async function composeSoleDispatch(
  settings: ThreadSettings,
  edge: ThreadEdge<'dispatch'>,
): Promise<ThreadEnds['dispatch']['services']> {
  const { rpc, runtime } = edge
  const store: PushStore = rpc.remote('pushes')
  const metrics = createMetrics()
  const dispatch = await composeDispatch({ settings, edge, metrics, store })
  rpc.onTell('pushes-queued', () => dispatch.nudge())
  return {
    control: {
      ...dispatch,
      start: async () => {
        // The earlier process, whose claims these are, has ended.
        await store.releaseAll(runtime.nowMs())
        dispatch.start()
      },
    },
  }
}

// Dispatch of a sole process: the jobs are in the engine's store, which the frontend reaches.

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
        // The process that had claims before this one is gone.
        await store.releaseAll(runtime.nowMs())
        dispatch.start()
      },
    },
  }
}

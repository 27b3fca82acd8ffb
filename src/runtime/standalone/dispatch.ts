// Composes dispatch of a sole process. The jobs are in the engine's store, to which it has a wire
// of its own: the thread that answers requests copies no push.

import { composeDispatch } from '#src/runtime/dispatch/dispatch'
import { createMetrics } from '#src/telemetry/meter'
import type { JobsEnd, ReaderEnd, ThreadEnds, ThreadSettings } from '#src/runtime/threads/contract'
import { Rpc } from '#src/threads/rpc'
import type { ThreadEdge } from '#src/runtime/threads/threads'

export async function composeSoleDispatch(
  settings: ThreadSettings,
  edge: ThreadEdge<'dispatch'>,
): Promise<ThreadEnds['dispatch']['services']> {
  const { peer, runtime } = edge
  if (peer === undefined) throw new Error('dispatch of a sole process has no engine')
  const engine = new Rpc<ReaderEnd, JobsEnd>(peer)
  peer.on('close', () => engine.break(new Error("the engine's thread has ended")))
  const store = engine.remote('pushes')
  const metrics = createMetrics()
  const secrets = engine.remote('secrets')
  const dispatch = await composeDispatch({ settings, edge, metrics, store, secrets })
  engine.onTell('queued', () => dispatch.nudge())
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

// Compares the push providers of the nodes that apply lanes. A node makes pushes for the providers
// that it has settings of, so one without a setting makes none for its lanes, and no operation
// misses them.
//
// Invariants:
//   provider-agreement/1. Each node tells its providers again and again. One whose providers differ
//     is in the log once for each list that it tells, and counts until it agrees or is silent for
//     SILENT_MS.

import { PROVIDERS } from '#domain/push/providers'
import type { Bus } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import type { Logger, Meter } from '#domain/telemetry'

export const TELL_EVERY_MS = 30_000
/** Notices that are lost in a row are few. */
const SILENT_MS = 4 * TELL_EVERY_MS

interface Ports {
  readonly bus: Pick<Bus, 'notify' | 'onNotice'>
  readonly runtime: Pick<Runtime, 'every' | 'monotonicMs'>
  readonly logger: Pick<Logger, 'warn'>
  readonly meter: Pick<Meter, 'gauge'>
}

interface Other {
  readonly providers: string
  readonly heardMs: number
}

/** Begins to tell and to listen. Returns a function that ends it. */
export function watchProviders(
  { bus, runtime, logger, meter }: Ports,
  { nodeId: node, providers }: { readonly nodeId: string; readonly providers: object },
): () => void {
  const ours = PROVIDERS.filter((name) => Object.hasOwn(providers, name)).join()
  const others = new Map<string, Other>()
  const tell = (): void => bus.notify({ kind: 'providers', node, providers: ours })
  const forget = (): void => {
    const heardMs = runtime.monotonicMs() - SILENT_MS
    for (const [name, other] of others) if (other.heardMs < heardMs) others.delete(name)
  }
  const stopHearing = bus.onNotice((notice) => {
    if (notice.kind !== 'providers' || notice.node === node) return
    const { node: other, providers: theirs } = notice
    if (theirs === ours) return void others.delete(other)
    if (others.get(other)?.providers !== theirs) {
      logger.warn('a node has other push providers: lanes of one of them miss pushes', {
        other,
        has: theirs || 'none',
        here: ours || 'none',
      })
    }
    others.set(other, { providers: theirs, heardMs: runtime.monotonicMs() })
  })
  meter.gauge('push_providers_differing', {}, () => others.size)
  const cancel = runtime.every(TELL_EVERY_MS, () => {
    forget()
    tell()
  })
  tell()
  return () => {
    cancel()
    stopHearing()
  }
}

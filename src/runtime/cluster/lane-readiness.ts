// Whether somebody applies each lane of the cluster, as told by what the owners say on the bus.

import type { Bus, Probe } from '#domain/ports'

export interface LaneWatchOptions {
  readonly lanes: number
  readonly monotonicMs: () => number
}

/** Owners tell how far each of their lanes is every second, also when nothing moves. */
const SILENT_MS = 5_000

/** Ready while every lane was heard of lately. */
export function laneWatch(
  bus: Pick<Bus, 'onNotice'>,
  { lanes, monotonicMs }: LaneWatchOptions,
): Probe {
  const heardMs = new Map<number, number>()
  bus.onNotice((notice) => {
    if (notice.kind === 'applied' && notice.lane < lanes) heardMs.set(notice.lane, monotonicMs())
  })
  return {
    readiness: async () => {
      const sinceMs = monotonicMs() - SILENT_MS
      const applied = [...heardMs.values()].filter((atMs) => atMs >= sinceMs).length
      return { name: 'lanes', ready: applied === lanes, detail: `${applied} of ${lanes} applied` }
    },
  }
}

// Readiness of the lanes: every lane has an owner that speaks on the bus.

import type { Bus, Probe } from '#domain/ports'

export interface LaneWatchOptions {
  readonly lanes: number
  readonly monotonicMs: () => number
}

/** Each owner tells the places of its lanes every second, also when nothing moves. */
const SILENT_MS = 5_000

/** Ready while the owner of every lane spoke lately. */
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

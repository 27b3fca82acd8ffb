// Checks that every lane has an owner, by the notices that owners send on the bus.

import type { Bus, Probe } from '#domain/ports'

export interface LaneProbeOptions {
  readonly lanes: number
  readonly monotonicMs: () => number
}

/** Each owner sends the places of its lanes every second, also when they do not move. */
const SILENT_MS = 5_000

/** Ready while every lane's owner sent a notice within SILENT_MS. */
export function laneProbe(
  bus: Pick<Bus, 'onNotice'>,
  { lanes, monotonicMs }: LaneProbeOptions,
): Probe {
  const noticedMs = new Map<number, number>()
  bus.onNotice((notice) => {
    if (notice.kind === 'applied' && notice.lane < lanes) noticedMs.set(notice.lane, monotonicMs())
  })
  return {
    readiness: async () => {
      const sinceMs = monotonicMs() - SILENT_MS
      const applied = [...noticedMs.values()].filter((atMs) => atMs >= sinceMs).length
      return { name: 'lanes', ready: applied === lanes, detail: `${applied} of ${lanes} applied` }
    },
  }
}

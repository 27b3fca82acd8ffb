// Removes rows past their retention in small steps, and sends a notice for each removed channel.
//
// Invariants:
//   removal/1. Nothing is removed for being idle while the wall clock has outrun the monotonic one:
//     a clock that is set forward by mistake would remove every device that is away for a moment.
//   removal/2. A run removes what has expired when it begins. Under load something expires at each
//     moment: a run that took it along would never end, with few rows in each of its steps.

import { firstKept } from '#domain/history/series'
import type { Tier } from '#domain/history/series'
import type { Bus } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import type { Expired, IdleLimits, RetentionLimits, RetentionStore } from '#domain/retention-ports'
import type { ThreadSettings } from '#src/runtime/threads/contract'

const ROWS = 500
/** Devices or channels in one step; each may cost a statement of its own. */
const IDLE_ROWS = 100
const PAUSE_MS = 20
const DAY_MS = 24 * 3_600_000
/** The longest time by which turns may lag behind their submissions. */
const LAG_ALLOWANCE_MS = DAY_MS
/** Milliseconds for which a registration without a subscription stays. */
const UNUSED_DEVICE_MS = DAY_MS
/** The store records to the day when it last saw a device. */
const SEEN_ALLOWANCE_MS = DAY_MS
/** Milliseconds for which an assistant is told how a bind session ended. */
const BIND_SESSION_KEPT_MS = DAY_MS

type Settings = Pick<
  ThreadSettings,
  'statusRetentionMs' | 'historyRetentionMs' | 'deviceRetentionMs' | 'tierRetentionMs'
>

interface Removal {
  readonly retention: RetentionStore
  readonly bus: Pick<Bus, 'notify'>
  readonly settings: Settings
  readonly runtime: Pick<Runtime, 'nowMs' | 'wait'>
  /** True while the clock cannot be trusted to say what is idle. (removal/1) */
  readonly isClockAhead: () => boolean
  /** Called before each step; false ends the removal. */
  readonly mayGoOn: () => boolean
  /** Called with the number of rows that a step removed. */
  readonly removed: (rows: number) => void
}

const NOTHING_IDLE: Expired = { devices: 0, channels: [] }

/** Removes rows until none is left of those that are past their retention now. */
export async function removeExpired(removal: Removal): Promise<void> {
  const { retention, bus, settings, runtime, isClockAhead, mayGoOn, removed } = removal
  const now = runtime.nowMs() // removal/2
  while (mayGoOn()) {
    const { devices, channels } = isClockAhead()
      ? NOTHING_IDLE // removal/1
      : await retention.expire(idleLimitsAt(now, settings), IDLE_ROWS)
    for (const channelId of channels) bus.notify({ kind: 'channel-deleted', channelId })
    const rows = devices + (await retention.step(limitsAt(now, settings), ROWS))
    removed(rows)
    if (rows + channels.length === 0) return
    await runtime.wait(PAUSE_MS)
  }
}

function limitsAt(now: number, settings: Settings): RetentionLimits {
  const { messagesAndEvents, thingUpdates } = settings.historyRetentionMs
  return {
    operations: now - settings.statusRetentionMs,
    messagesAndEvents: now - messagesAndEvents,
    thingUpdates: now - thingUpdates,
    tiers: tiersAt(now, settings),
    // A lagging turn must still find the ended entities that its submissions may not forget yet.
    // (W3)
    tombstones: now - messagesAndEvents - LAG_ALLOWANCE_MS,
    deletedChannels: now - LAG_ALLOWANCE_MS,
    authorization: now,
    bindSessions: now - BIND_SESSION_KEPT_MS,
  }
}

/** A tier that is not made has nothing to keep. */
function tiersAt(now: number, { tierRetentionMs }: Settings): RetentionLimits['tiers'] {
  const of = (tier: Tier): number =>
    Math.min(Number.MAX_SAFE_INTEGER, firstKept(tier, tierRetentionMs, now))
  return { '5m': of('5m'), '1h': of('1h'), '1d': of('1d') }
}

function idleLimitsAt(
  now: number,
  { deviceRetentionMs, historyRetentionMs }: Settings,
): IdleLimits {
  const { messagesAndEvents, thingUpdates } = historyRetentionMs
  return {
    neverSubscribed: now - UNUSED_DEVICE_MS,
    devices: now - deviceRetentionMs - SEEN_ALLOWANCE_MS,
    // A channel stays at least as long as its contents.
    channels: now - Math.max(deviceRetentionMs, messagesAndEvents, thingUpdates),
    nowMs: now,
  }
}

// Tells when the wall clock has run ahead of the monotonic one: somebody set it, rightly or not.

/** Milliseconds by which the clocks may drift apart between two questions. */
const DRIFT_MAX_MS = 60_000
/**
 * Milliseconds for which a clock that was set forward is not trusted. Meanwhile whatever is in use
 * is seen at the new time, and a wrong clock can be set back.
 */
const TRUSTED_AFTER_MS = 2 * 24 * 3_600_000

export class ClockLead {
  readonly #runtime: Pick<Runtime, 'nowMs' | 'monotonicMs'>
  #trustedMs: number
  #ahead: { readonly leadMs: number; readonly sinceMs: number } | undefined

  constructor(runtime: Pick<Runtime, 'nowMs' | 'monotonicMs'>) {
    this.#runtime = runtime
    this.#trustedMs = runtime.nowMs() - runtime.monotonicMs()
  }

  /**
   * Returns true from the first question after the wall clock was set forward, until it is set
   * back, or has gone on as the monotonic clock for two days.
   */
  isAhead(): boolean {
    const { nowMs, monotonicMs } = this.#runtime
    const atMs = monotonicMs()
    const leadMs = nowMs() - atMs
    const isTrusted = leadMs - this.#trustedMs <= DRIFT_MAX_MS
    if (!isTrusted) {
      const isSame = Math.abs(leadMs - (this.#ahead?.leadMs ?? Infinity)) <= DRIFT_MAX_MS
      const sinceMs = isSame ? (this.#ahead?.sinceMs ?? atMs) : atMs
      this.#ahead = { leadMs, sinceMs }
      if (atMs - sinceMs < TRUSTED_AFTER_MS) return true
    }
    this.#trustedMs = leadMs
    this.#ahead = undefined
    return false
  }
}

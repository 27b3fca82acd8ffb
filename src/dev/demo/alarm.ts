// Decides without I/O when a value is too high.

export type Alarm = { readonly kind: 'quiet' } | { readonly kind: 'raised'; readonly peak: number }

export const QUIET: Alarm = { kind: 'quiet' }

/**
 * A value above the threshold raises the alarm, and only one below four fifths of it ends the
 * alarm: a value that swings around the threshold is one alarm, not many.
 */
export function nextAlarm(alarm: Alarm, value: number, threshold: number): Alarm {
  if (alarm.kind === 'quiet') return value > threshold ? { kind: 'raised', peak: value } : alarm
  if (value < threshold * 0.8) return QUIET
  return { kind: 'raised', peak: Math.max(alarm.peak, value) }
}

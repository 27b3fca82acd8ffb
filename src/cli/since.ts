// Times that stand at a distance from now: that of --since, from which a command shows entries,
// and those that something ends at.

import { UNIT_MS } from '#domain/runtime'
import type { Unit } from '#domain/runtime'
import type { FeedRecord } from '#src/client/bodies'
import { parseChannelId } from '#domain/identity'
import type { EntityId, OperationId } from '#domain/identity'
import type { Delivery } from '#src/schemas/frames'
import { CommandError } from './endings.ts'
import { readTimeOption } from './values.ts'
import { BadValue, valued } from './command.ts'

/** Returns the time for the present time; both are Unix milliseconds. */
export type Since = (nowMs: number) => number

/** Reads `90s`, `15m`, `2h`, `7d`, `all`, or a time. Throws BadValue. */
export function readSince(text: string): Since {
  if (text === 'all') return () => 0
  const spanMs = spanMsOf(text)
  if (spanMs !== undefined) return (nowMs) => Math.max(0, nowMs - spanMs)
  // As a time it would be in the seventies: a unit was forgotten.
  if (/^[1-9]\d{0,7}$/.test(text)) throw new BadValue(`a span has a unit, such as ${text}m`)
  const at = readTimeOption(text, '90s, 15m, 2h, 7d, all, or ')
  return () => at
}

/** Reads `12h` or `90d` from now, or a time. Throws BadValue. */
export function readUntil(text: string): Since {
  const spanMs = spanMsOf(text)
  if (spanMs !== undefined) return (nowMs) => nowMs + spanMs
  const at = readTimeOption(text, '12h, 90d, or ')
  return () => at
}

function spanMsOf(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * UNIT_MS[unit as Unit]
}

export const since = valued(
  '<time>',
  'shows the entries since then first: 90s, 15m, 2h, 7d, all, or a time',
  readSince,
)

/** An entry of the history in the form of a delivery. */
export function deliveryOf(record: FeedRecord): Delivery {
  const channelId = parseChannelId(record.channel_id)
  if (channelId === undefined) throw new CommandError('the gateway gave no usable channel_id')
  return {
    kind: 'deliver',
    channelId,
    seq: record.seq,
    deliveryId: record.delivery_id,
    opId: record.op_id as OperationId, // shown only
    model: record.model,
    action: record.action,
    entityId: record.entity_id as EntityId, // shown only
    state: record.state,
    rev: record.rev,
    acceptedAt: record.accepted_at,
    payload: record.payload,
    replay: true,
  }
}

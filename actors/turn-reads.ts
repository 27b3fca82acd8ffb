// Groups a turn by channel, and reads the state that the channels' actors do not remember.

import type { ChannelId, OperationId } from '#domain/identity'
import type { TurnReads } from '#domain/store-ports'
import type { Submission } from '#domain/submission'
import type { ChannelActor } from './channel.ts'
import { isOfChannel } from './turn-item.ts'
import type { Turn } from './turn-item.ts'

/** Submissions by channel, in order. */
export type Groups = ReadonlyMap<ChannelId, Submission[]>

/** Leaves out items that are unreadable, poisoned or parked. */
export function groupByChannel({ items, poisoned, parked }: Turn): Groups {
  const groups = new Map<ChannelId, Submission[]>()
  for (const item of items) {
    const { submission } = item
    if (!isOfChannel(submission) || poisoned?.has(item) === true) continue
    if (parked?.has(item) === true) continue
    const group = groups.get(submission.channelId)
    if (group === undefined) groups.set(submission.channelId, [submission])
    else group.push(submission)
  }
  return groups
}

/**
 * Asks the store for the heads of sleeping channels, for entities that no actor remembers, and for
 * the records of op_ids that may have one.
 */
export function turnReadsOf(
  actors: readonly ChannelActor[],
  groups: Groups,
  { poisoned, parked, isCareful }: Pick<Turn, 'poisoned' | 'parked' | 'isCareful'>,
): TurnReads {
  const reads = {
    channels: [] as ChannelId[],
    things: [] as { channelId: ChannelId; id: string }[],
    events: [] as { channelId: ChannelId; id: string }[],
    operations: [] as OperationId[],
  }
  for (const actor of actors) {
    const { channelId } = actor
    if (actor.isAsleep) reads.channels.push(channelId)
    const asked = new Set<string>()
    for (const submission of groups.get(channelId) ?? []) {
      const isChosen = submission.model === 'message' && submission.claimed
      if (isChosen || isCareful === true) reads.operations.push(submission.opId)
      if (submission.model === 'message') continue
      if (submission.action === 'create') continue
      const kind = submission.model === 'thing' ? 'things' : 'events'
      if (actor.knows(kind, submission.entityId)) continue
      const key = `${kind} ${submission.entityId}`
      if (asked.has(key)) continue
      asked.add(key)
      const list = submission.model === 'thing' ? reads.things : reads.events
      list.push({ channelId, id: submission.entityId })
    }
  }
  for (const { submission } of [...(poisoned?.keys() ?? []), ...(parked?.keys() ?? [])]) {
    if (isOfChannel(submission)) reads.operations.push(submission.opId)
  }
  return reads
}

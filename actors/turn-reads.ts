// Who takes part in a turn, and what it asks the store for beside what its channels know.

import type { ChannelId, OperationId } from '#domain/identity'
import type { TurnReads } from '#domain/store-ports'
import type { Submission } from '#domain/submission'
import type { ChannelActor } from './channel.ts'
import type { Turn } from './turn-item.ts'

/** Submissions by channel, in order. */
export type Groups = ReadonlyMap<ChannelId, Submission[]>

/** Without what cannot be read and what is given up. */
export function groupByChannel({ items, poisoned }: Turn): Groups {
  const groups = new Map<ChannelId, Submission[]>()
  for (const item of items) {
    const { submission } = item
    if (submission.model === 'unreadable' || poisoned?.has(item) === true) continue
    const group = groups.get(submission.channelId)
    if (group === undefined) groups.set(submission.channelId, [submission])
    else group.push(submission)
  }
  return groups
}

/**
 * What the store must be asked for: heads of sleeping channels, entities that nobody remembers, and
 * which op_ids have a record.
 */
export function turnReadsOf(
  actors: readonly ChannelActor[],
  groups: Groups,
  poisoned: Turn['poisoned'],
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
      if (submission.model === 'message') {
        if (submission.claimed) reads.operations.push(submission.opId)
        continue
      }
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
  for (const { submission } of poisoned?.keys() ?? []) {
    if (submission.model !== 'unreadable') reads.operations.push(submission.opId)
  }
  return reads
}

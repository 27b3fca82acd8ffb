// Random worlds of rules: logs of readings, changed rules and ticks, and what each leaves when its
// items are applied one by one, by actors that remember nothing.

import * as fc from 'fast-check'

import { ChannelDirectory } from '#actors/channel'
import { commitTurn, decideTurn } from '#actors/turn'
import { ENDED_LIFE_MS, itemOf } from '#test/support/plain-fold'
import type { Item, Made } from '#test/support/plain-fold'
import type { MemoryTurnStore } from '#test/support/memory-turn-store'
import { worlds } from '#test/support/replay-world'
import type { Play } from '#test/support/replay-world'
import { ruleOf } from '#test/support/rules'
import type { EventSubmission } from '#domain/submission'
import { cancellation, opId, rule } from '#test/support/submissions'
import { LIMITS } from '#test/support/turn-bench'

const ATTR = { attr: 'k' }

/** Rules over the values 1, 2 and none, at the pace of the worlds' times. */
const RULES: readonly object[] = [
  { when: { ...ATTR, above: 1 } },
  { when: { ...ATTR, above: 1 }, for: '1s', clear: { ...ATTR, absent: true } },
  { when: { ...ATTR, equals: 2 }, clear_for: '1s', title: 'other' },
  { when: { silent: '1s' }, things: { prefix: 'a' } },
  { when: { any: [{ silent: '2s' }, { ...ATTR, above: 1 }] }, for: '1s' },
  { when: { silent: '1s' }, event: undefined, message: { title: 'x' } },
  { when: { cel: 'attrs.k > 1' }, enabled: false },
]

/** The clock of these worlds: a hundredth of a second there is one of the others' milliseconds. */
const PACE = 100

/**
 * Some Messages of a world stand for changes of rules; of those with a chosen op_id, one waits and
 * the others take it back.
 */
export const rulesPlay: Play = {
  itemOf: (made) => {
    const item = itemOf(made)
    if (item.model === 'unreadable' || item.model === 'tick') return item
    const { parts } = made
    if (item.model === 'event') return attended(item, parts)
    const acceptedAt = item.acceptedAt * PACE
    if (made.kind === 'claimed-x' && item.model === 'message') {
      return { ...item, acceptedAt, schedule: { deliverAt: acceptedAt + 5 * PACE } }
    }
    if (made.kind === 'claimed-y' && item.model === 'message') {
      const cancels = opId(item.opId.replace('claimed-y', 'claimed-x'))
      return {
        ...cancellation({ ...item, opId: cancels }, { channelId: item.channelId }),
        acceptedAt,
      }
    }
    if (made.kind !== 'message') return { ...item, acceptedAt }
    const { channelId } = item
    const members = RULES[(parts.pauseMs + parts.at) % RULES.length] ?? {}
    const id = parts.id === 'a' ? 'r' : 's'
    const isDelete = parts.pauseMs % 4 === 0
    const text = isDelete ? '' : JSON.stringify(ruleOf(members))
    return rule(isDelete ? 'delete' : 'put', id, text, { channelId, opId: item.opId, acceptedAt })
  },
  tickAt: (_step, items) =>
    Math.max(0, ...items.map((item) => ('acceptedAt' in item ? item.acceptedAt : 0))) + PACE,
  apply: applyOneByOne,
}

/**
 * Events remind and escalate; some updates stand for acknowledgements, which snooze or have no end.
 */
function attended(item: EventSubmission, { attr, pauseMs }: Made['parts']): EventSubmission {
  const acceptedAt = item.acceptedAt * PACE
  const { patch } = item
  if (item.action === 'update' && attr === 1) {
    const acknowledging = pauseMs % 2 === 0 ? { snoozeMs: 1_000 } : {}
    return {
      ...item,
      action: 'acknowledge',
      acceptedAt,
      patch: { at: patch.at, fields: {} },
      acknowledging,
    }
  }
  const escalate = [{ after: '2s', level: 1, severity: 'high' }]
  return { ...item, acceptedAt, patch: { ...patch, fields: { remind_every: '1s', escalate } } }
}

async function applyOneByOne(
  store: MemoryTurnStore,
  lane: number,
  items: readonly Item[],
): Promise<void> {
  let from = await store.takeLane({ lane, epoch: 1 })
  const limits = { ...LIMITS, endedLifeMs: ENDED_LIFE_MS * PACE }
  for (const [index, submission] of items.entries()) {
    if (from === 'fenced') return
    const to = from + 1
    const item = { lane, position: to, index, placeAfter: to, submission }
    const directory = new ChannelDirectory(limits)
    const lanes = new Map([[lane, { epoch: 1, decidedTo: from }]])
    const turn = { items: [item], lanes, nowMs: 0 }
    await commitTurn({ store }, await decideTurn({ store, directory }, turn))
    from = to
  }
}

/**
 * Worlds without what changes the order of a log: a refused channel's deadlines wait, and a poisoned
 * submission has no effect.
 */
export const rulesWorlds = fc.record({ world: worlds }).map(({ world }) => ({
  ...world,
  endedLifeMs: ENDED_LIFE_MS * PACE,
  batches: world.batches.map((batch) => batch.map((one) => ({ ...one, isPoison: false }))),
  faults: world.faults.map(({ loads, commits }) => ({
    loads,
    commits: commits.map((way) => (way === 'unwilling' ? undefined : way)),
  })),
}))

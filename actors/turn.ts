// One turn: what it needs is read, each of its items is decided in the order of the log, and all
// that they leave is written at once.
//
//   items ─▶ what nobody remembers is read ─▶ decided one by one (pure) ─▶ one transaction ─▶ told
//
// A turn may be decided while the one before it commits. Its lanes start from where that turn
// leaves them, so it can only be committed after that turn.
//
// Invariants:
//   W2. Effects and lane places commit together, or not at all.
//   W6. A submission that cannot be applied becomes a dead letter, and its operation fails.
//   turn/1. Nothing leaves before the commit: announcements are made from a committed turn.
//   turn/2. A turn makes at most ENTRIES_MAX entries, and those of one submission more: it ends
//     there, and the items behind wait for the next one. One update may set off a thousand rules.
//     (W7)

import type { ChannelId, OperationId } from '#domain/identity'
import type { Operation } from '#domain/operation'
import type {
  ChannelWrites,
  DeadLetter,
  LaneMove,
  OperationUse,
  TurnReads,
  TurnState,
  TurnStore,
  TurnWrites,
} from '#domain/store-ports'
import type { Submission } from '#domain/submission'
import type { ChannelTurn } from '#machines/channel-turn'
import type { Decided } from '#machines/channel'
import type { RuleEffects } from '#machines/consequences'
import { operationOf, refusal } from '#machines/decide'
import type { ChannelDirectory } from './channel.ts'
import { movesOf } from './lanes.ts'
import { isOfChannel } from './turn-item.ts'
import type { Item, Turn } from './turn-item.ts'
import { TurnNeeds, dueOf, putOffOf } from './turn-reads.ts'
import type { ChannelOfTurn, DueByChannel, TakenChannel } from './turn-reads.ts'
import { TurnRecords } from './turn-records.ts'

/** Some 0.4 s of the database, four entries for each submission of the greatest turn. */
export const ENTRIES_MAX = 8_192

export interface TurnPorts {
  readonly store: TurnStore
  readonly directory: ChannelDirectory
}

export type TurnEnd =
  | {
      readonly kind: 'committed'
      /** What each channel decided. (turn/1) */
      readonly channels: Channels
      readonly operations: readonly Operation[]
      /** The operations that wait for a push provider. */
      readonly queued: readonly OperationId[]
      readonly deadLetters: number
    }
  | { readonly kind: 'fenced'; readonly lanes: readonly number[] }

/** A decided turn without effect yet. It is committed next, or undecided. */
export interface DecidedTurn extends Turn {
  /** Each lane moves behind the last of its items. */
  readonly moves: readonly LaneMove[]
  readonly writes: TurnWrites
  readonly channels: Channels
  /** Operations that ended and leave no record. */
  readonly unrecorded: readonly Operation[]
}

/**
 * Decides items in order, as many as fit. (turn/2) `before` is the turn that is not committed yet,
 * if there is one. Rejects when the store did not answer.
 */
export async function decideTurn(
  { store, directory }: TurnPorts,
  turn: Turn,
  before?: DecidedTurn,
): Promise<DecidedTurn> {
  const due = await dueOf(store, turn)
  const putOff = await putOffOf(store, turn)
  const { channels: needed, reads } = new TurnNeeds(directory, turn, due)
  const state = reads && (await store.load(reads))
  try {
    const channels = begin(needed, state)
    const records = new TurnRecords(turn, usesIn(reads, state), before)
    const pass = new Pass({ turn, due, channels, records })
    const items = pass.run()
    const written = pass.end()
    const { deadLetters } = pass
    const { operations, batches, unrecorded } = records
    const moves = movesOf(items, turn.lanes)
    const all = { lanes: moves, channels: written, operations, batches, deadLetters }
    const writes = putOff === undefined ? all : { ...all, putOff }
    return { ...turn, items, moves, writes, channels, unrecorded }
  } catch (error) {
    forget(needed.values())
    throw error
  }
}

/**
 * Writes what was decided and moves the lanes. Rejects when the store did not answer: then nobody
 * knows whether the commit happened, and every actor of the turn has forgotten what it knew.
 */
export async function commitTurn(
  { store }: Pick<TurnPorts, 'store'>,
  turn: DecidedTurn,
): Promise<TurnEnd> {
  try {
    const { writes, channels, unrecorded } = turn
    const committed = await store.commit(writes)
    if (committed.kind === 'fenced') {
      undecide(turn)
      return committed
    }
    for (const { actor } of channels.values()) actor.committed()
    return {
      kind: 'committed',
      channels, // turn/1
      operations: [...writes.operations, ...(writes.batches ?? []).flat(), ...unrecorded],
      queued: committed.queued ?? [],
      deadLetters: writes.deadLetters.length,
    }
  } catch (error) {
    undecide(turn)
    throw error
  }
}

/** Gives up a turn that will not be committed: its actors forget what they know. */
export function undecide({ channels }: DecidedTurn): void {
  forget(channels.values())
}

/** The uses of op_ids that the store knows; undefined when it was not asked for any. */
const usesIn = (reads?: TurnReads, state?: TurnState): readonly OperationUse[] | undefined =>
  reads === undefined || reads.operations.length === 0 ? undefined : state?.operations

/** The channels of a turn that exist. */
type Channels = ReadonlyMap<ChannelId, TakenChannel>

/** Begins the turns of the channels that exist, with what was read for them. */
function begin(needed: Map<ChannelId, ChannelOfTurn>, read?: TurnState): Channels {
  if (read !== undefined) {
    const rules = Map.groupBy(read.rules, ({ channelId }) => channelId)
    for (const head of read.channels) {
      needed.get(head.channelId)?.actor.load(head, rules.get(head.channelId) ?? [])
    }
  }
  for (const [channelId, channel] of needed) {
    if (channel.actor.isAsleep) needed.delete(channelId)
    else channel.turn = channel.actor.begin(channel.lane)
  }
  const channels = needed as Channels
  if (read === undefined) return channels
  const turnOf = ({ channelId }: { readonly channelId: ChannelId }) => channels.get(channelId)?.turn
  for (const thing of read.things) turnOf(thing)?.readThing(thing)
  for (const { channelId, ...event } of read.events) channels.get(channelId)?.turn.readEvent(event)
  for (const watch of read.watches) turnOf(watch)?.readWatch(watch)
  for (const state of read.scheduled ?? []) turnOf(state)?.readScheduled(state)
  return channels
}

interface Deciding {
  readonly turn: Turn
  readonly due: DueByChannel
  readonly channels: Channels
  readonly records: TurnRecords
}

/** The way through the items of a turn. */
class Pass {
  readonly deadLetters: DeadLetter[] = []
  readonly #deciding: Deciding
  /** Entries until now. */
  #made = 0

  constructor(deciding: Deciding) {
    this.#deciding = deciding
  }

  /** Decides the items; returns those that fit. */
  run(): readonly Item[] {
    const { items } = this.#deciding.turn
    let count = 0
    for (const item of items) {
      if (this.#made >= ENTRIES_MAX) break // turn/2
      this.#take(item)
      count += 1
    }
    return count === items.length ? items : items.slice(0, count)
  }

  /** Ends the turns of the channels; gives what they write. */
  end(): readonly ChannelWrites[] {
    const { channels, records } = this.#deciding
    const all: ChannelWrites[] = []
    for (const { actor, turn } of channels.values()) {
      if (turn.caused !== undefined) records.caused(turn.caused)
      const { decided } = turn
      actor.end(decided)
      all.push(writesOf(turn, decided))
    }
    return all
  }

  #take(item: Item): void {
    const { turn, channels, records } = this.#deciding
    const { submission } = item
    const reason = turn.setAside?.get(item)
    if (reason !== undefined) return this.#setAside(item, reason)
    if (submission.model === 'unreadable') return this.#bury(item, submission.error)
    if (submission.model === 'tick') return this.#takeDue()
    if (records.isRepeat(submission)) return
    const channel = channels.get(submission.channelId)?.turn
    records.add(item, submission, this.#decide(item, submission, channel))
  }

  #decide(item: Item, submission: Submission, channel: ChannelTurn | undefined): Operation {
    if (channel === undefined) return refusal(submission, 'channel_not_found').operation
    const { headSeq } = channel
    try {
      return channel.take(submission)
    } catch (error) {
      // W6: a defect in one submission stops that one alone; the others go on.
      this.#bury(item, String(error))
      return operationOf(submission, 'internal_error')
    } finally {
      this.#made += channel.headSeq - headSeq
    }
  }

  #takeDue(): void {
    for (const [channelId, due] of this.#deciding.due) {
      const channel = this.#deciding.channels.get(channelId)?.turn
      channel?.takeDue(due)
      this.#made += channel?.entries.length ?? 0
    }
  }

  #setAside(item: Item, reason: string): void {
    const { submission } = item
    this.#bury(item, reason)
    if (isOfChannel(submission)) this.#deciding.records.addSetAside(submission)
  }

  #bury({ lane, position, index, submission }: Item, error: string): void {
    const isUnreadable = submission.model === 'unreadable'
    const payload = isUnreadable ? submission.payload : JSON.stringify(submission)
    // An unreadable submission has no time of its own, so the clock gives it. (W3)
    const at = isUnreadable ? this.#deciding.turn.nowMs : submission.acceptedAt
    this.deadLetters.push({ lane, position, index, payload, error, at })
  }
}

function writesOf(turn: ChannelTurn, { head, things, events }: Decided): ChannelWrites {
  const { lane, entries, late, ruleEffects: effects, scheduledWrites: messages } = turn
  const writes = { head, entries, things: valuesOf(things), events: valuesOf(events) }
  const hasRules = effects !== undefined && hasChanges(effects)
  if (!hasRules && messages.length === 0 && late === undefined) return writes
  return {
    ...writes,
    ...(late !== undefined && { late }),
    ...(hasRules && { rules: { lane, ...effects } }),
    ...(messages.length > 0 && { scheduled: { lane, messages } }),
  }
}

const NONE: readonly never[] = []

const valuesOf = <Kept>(items: ReadonlyMap<string, Kept>): readonly Kept[] =>
  items.size === 0 ? NONE : [...items.values()]

const hasChanges = ({ rules, watches, failures }: RuleEffects): boolean =>
  rules.length + watches.length + failures.length > 0

function forget(channels: Iterable<ChannelOfTurn>): void {
  for (const { actor } of channels) actor.failed()
}

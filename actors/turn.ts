// One turn: load once, let every channel decide, commit once, tell the bus.
//
//   submissions ─▶ by channel ─▶ one grouped read ─▶ decide (pure) ─▶ one transaction ─▶ announce
//
// A turn may be decided while the one before it commits. Its lanes start from where that turn
// leaves them, so it can only be committed after that turn.
//
// Invariants:
//   W2. Effects and lane places commit together, or not at all.
//   turn/1. Nothing leaves before the commit: announcements are made from a committed turn.

import type { FeedEntry } from '#domain/feed'
import type { ChannelId, OperationId } from '#domain/identity'
import type { Logged } from '#domain/lane'
import type { Operation } from '#domain/operation'
import type {
  ChannelWrites,
  DeadLetter,
  OperationUse,
  TurnState,
  TurnStore,
  TurnWrites,
} from '#domain/store-ports'
import type { Submission } from '#domain/submission'
import { refuseAll } from '#machines/channel'
import { operationOf, waitingOperationOf } from '#machines/decide'
import type { ChannelActor, ChannelDirectory, TurnOutcome } from './channel.ts'
import { isOfChannel, isTick } from './turn-item.ts'
import type { Item, Turn } from './turn-item.ts'
import { dueOf, groupByChannel, putOffOf, turnReadsOf } from './turn-reads.ts'
import type { DueByChannel, Groups } from './turn-reads.ts'
import { recordsOf } from './turn-records.ts'
import { ENTRIES_MAX, TurnTooLarge } from './turn-size.ts'
import { ownRecords, usesOf, withoutRecordless } from './turn-uses.ts'
import type { Uses } from './turn-uses.ts'

export interface TurnPorts {
  readonly store: TurnStore
  readonly directory: ChannelDirectory
}

export type TurnEnd =
  | {
      readonly kind: 'committed'
      /** Entries by channel, in seq order. */
      readonly entries: ReadonlyMap<ChannelId, readonly FeedEntry[]>
      readonly operations: readonly Operation[]
      /** The operations that wait for a push provider. */
      readonly queued: readonly OperationId[]
      readonly deadLetters: number
    }
  | { readonly kind: 'fenced'; readonly lanes: readonly number[] }

/** A decided turn without effect yet. It is committed next, or undecided. */
export interface DecidedTurn extends Turn {
  readonly writes: TurnWrites
  readonly outcomes: ReadonlyMap<ChannelActor, TurnOutcome>
  /** Operations that ended and leave no record. */
  readonly unrecorded: readonly Operation[]
}

/**
 * Decides items in order. `before` is the turn that is not committed yet, if there is one. Rejects
 * when the store did not answer, and with TurnTooLarge.
 */
export async function decideTurn(
  { store, directory }: TurnPorts,
  turn: Turn,
  before?: DecidedTurn,
): Promise<DecidedTurn> {
  const due = await dueOf(store, turn)
  const putOff = await putOffOf(store, turn)
  const groups = groupByChannel(turn, due)
  const actors = [...groups.keys()].map((id) => directory.wake(id, turn.nowMs))
  const loaded = await store.load(turnReadsOf(actors, { groups, due }, turn))
  try {
    const own = ownRecords(turn, loaded.operations)
    const state = withoutRecords(loaded, own)
    const uses = usesOf(turn, { recorded: state.operations, ...(before && { before }) })
    const decided = decideAll(actors, groups, { state, repeats: uses.repeats, due })
    const written = writesOf(turn, decided, { state, uses, own })
    const writes = putOff === undefined ? written.writes : { ...written.writes, putOff }
    return { ...turn, ...written, writes, outcomes: decided.outcomes }
  } catch (error) {
    forget(actors)
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
    const { writes, outcomes, unrecorded } = turn
    const committed = await store.commit(writes)
    if (committed.kind === 'fenced') {
      undecide(turn)
      return committed
    }
    for (const actor of outcomes.keys()) actor.committed()
    return {
      kind: 'committed',
      entries: entriesOf(outcomes), // turn/1
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
export function undecide({ outcomes }: DecidedTurn): void {
  forget(outcomes.keys())
}

interface Decided {
  readonly outcomes: ReadonlyMap<ChannelActor, TurnOutcome>
  /** Records of submissions to channels that do not exist. */
  readonly homeless: readonly Operation[]
}

interface Deciding {
  readonly state: TurnState
  readonly repeats: ReadonlySet<Submission>
  readonly due: DueByChannel
}

function decideAll(
  actors: readonly ChannelActor[],
  groups: Groups,
  { state, repeats, due }: Deciding,
): Decided {
  const heads = new Map(state.channels.map((head) => [head.channelId, head]))
  const things = Map.groupBy(state.things, (thing) => thing.channelId)
  const events = Map.groupBy(state.events, (event) => event.channelId)
  const rules = Map.groupBy(state.rules, (rule) => rule.channelId)
  const watches = Map.groupBy(state.watches, (watch) => watch.channelId)
  const scheduled = new Map(state.scheduled?.map((one) => [one.channelId, one]))
  const outcomes = new Map<ChannelActor, TurnOutcome>()
  const homeless: Operation[] = []
  let entriesMax = ENTRIES_MAX
  for (const actor of actors) {
    const { channelId } = actor
    const submissions = (groups.get(channelId) ?? []).filter((one) => !repeats.has(one))
    if (actor.isAsleep) {
      const head = heads.get(channelId)
      if (head === undefined) {
        homeless.push(...refuseAll(submissions))
        continue
      }
      actor.load(head, rules.get(channelId) ?? [])
    }
    const loaded = {
      things: things.get(channelId) ?? [],
      events: events.get(channelId) ?? [],
      watches: watches.get(channelId) ?? [],
    }
    const dueHere = due.get(channelId)
    const waiting = scheduled.get(channelId)
    const more = { ...(dueHere && { due: dueHere }), ...(waiting && { scheduled: waiting }) }
    const outcome = actor.take({ submissions, entriesMax, ...loaded, ...more })
    if (outcome.stoppedAt !== undefined) throw new TurnTooLarge(outcome.stoppedAt) // turn-size/1
    entriesMax -= outcome.entries.length
    outcomes.set(actor, outcome)
  }
  return { outcomes, homeless }
}

function withoutRecords(state: TurnState, records: readonly OperationUse[]): TurnState {
  if (records.length === 0) return state
  return { ...state, operations: state.operations.filter((use) => !records.includes(use)) }
}

interface Known {
  readonly state: TurnState
  readonly uses: Uses
  /** Records that this turn's own records replace. */
  readonly own: readonly OperationUse[]
}

function writesOf(
  turn: Turn,
  { outcomes, homeless }: Decided,
  { state, uses, own }: Known,
): Pick<DecidedTurn, 'writes' | 'unrecorded'> {
  const channels: ChannelWrites[] = []
  const decided = [...homeless]
  const deadLetters: DeadLetter[] = []
  const defects = new Map<Logged, string>()
  for (const outcome of outcomes.values()) {
    const { head, things, events, entries } = outcome
    const timed = timedWritesOf(outcome, turn)
    const changed = { things: [...things.values()], events: [...events.values()], entries }
    channels.push({ head, ...changed, ...timed })
    for (const operation of outcome.operations) decided.push(operation)
    for (const { submission, error } of outcome.defects) defects.set(submission, error)
  }
  const parked = parkedOf(turn, uses)
  for (const { submission } of parked) decided.push(waitingOperationOf(submission))
  const unparked = turn.unparks && { ...turn.unparks, opIds: own.map(({ opId }) => opId) }
  const { unrecorded, ...records } = recordsOf(turn, withoutRecordless(decided, uses))
  const writes = {
    lanes: turn.moves,
    channels,
    ...records,
    deadLetters,
    ...(parked.length > 0 && { parked: parked.map(({ written }) => written) }),
    ...(unparked && { unparked }),
  }
  addDeadLetters(turn, { defects, recorded: state.operations }, writes)
  return { writes, unrecorded }
}

/** The writes of a channel's rules and waiting Messages. A channel keeps to one lane. */
function timedWritesOf(
  { head, rules: { rules, watches, failures }, scheduled }: TurnOutcome,
  { items }: Turn,
): Pick<ChannelWrites, 'rules' | 'scheduled'> {
  const hasRules = rules.length + watches.length + failures.length > 0
  if (!hasRules && scheduled.length === 0) return NOTHING_TIMED
  const own = items.find(
    ({ submission }) => isOfChannel(submission) && submission.channelId === head.channelId,
  )
  const lane = own?.lane ?? items.find(isTick)?.lane
  if (lane === undefined) throw new Error('a turn changed rules of a channel without a lane')
  return {
    ...(hasRules && { rules: { lane, rules, watches, failures } }),
    ...(scheduled.length > 0 && { scheduled: { lane, messages: scheduled } }),
  }
}

const NOTHING_TIMED = Object.freeze({})

/** W6: the submissions to park with their channels, except repeats. (turn-uses/1) */
function parkedOf({ parked }: Turn, { repeats }: Uses) {
  return [...(parked ?? [])].flatMap(([{ lane, position, index, submission }, error]) => {
    if (!isOfChannel(submission) || repeats.has(submission)) return []
    const { channelId } = submission
    const payload = JSON.stringify(submission)
    return [{ submission, written: { channelId, lane, position, index, payload, error } }]
  })
}

interface Dying {
  readonly defects: ReadonlyMap<Logged, string>
  /** Records of the op_ids that the turn asked for. */
  readonly recorded: readonly OperationUse[]
}

/**
 * W6: keeps submissions that cannot be applied as dead letters, and records their operations as
 * failed. An op_id with a record gets no second one: that may be what broke the turn, and would
 * break this one too.
 */
function addDeadLetters(
  { poisoned, items, nowMs }: Turn,
  { defects, recorded }: Dying,
  writes: { readonly operations: Operation[]; readonly deadLetters: DeadLetter[] },
): void {
  if (poisoned === undefined && defects.size === 0 && !items.some(isUnreadable)) return
  for (const item of items) {
    const { lane, position, index, submission } = item
    const unreadable = submission.model === 'unreadable'
    const error =
      (unreadable ? submission.error : undefined) ?? poisoned?.get(item) ?? defects.get(submission)
    if (error === undefined) continue
    const payload = unreadable ? submission.payload : JSON.stringify(submission)
    // An unreadable submission has no time of its own, so the clock gives it. (W3)
    const at = unreadable ? nowMs : submission.acceptedAt
    writes.deadLetters.push({ lane, position, index, payload, error, at })
    if (!isOfChannel(submission) || poisoned?.has(item) !== true) continue
    if (!recorded.some(({ opId }) => opId === submission.opId)) {
      writes.operations.push(operationOf(submission, 'internal_error'))
    }
  }
}

const isUnreadable = (item: Item): boolean => item.submission.model === 'unreadable'

function entriesOf(
  outcomes: ReadonlyMap<ChannelActor, TurnOutcome>,
): ReadonlyMap<ChannelId, readonly FeedEntry[]> {
  const entries = new Map<ChannelId, readonly FeedEntry[]>()
  for (const [actor, outcome] of outcomes) {
    if (outcome.entries.length > 0) entries.set(actor.channelId, outcome.entries)
  }
  return entries
}

function forget(actors: Iterable<ChannelActor>): void {
  for (const actor of actors) actor.failed()
}

// The actors' side of the store in memory: one transaction a commit, fenced by epoch and place. Its
// answers pass through JSON, as with a real database. It can be told to fail in every way in which
// a store fails, and it lists requests that no correct gateway makes.

import type { Event, Thing } from '#domain/entity'
import type { FeedEntry, LateReading } from '#domain/feed'
import type { ChannelId, OperationId } from '#domain/identity'
import type { LanePlace, Lease, LogState } from '#domain/lane'
import type { Operation } from '#domain/operation'
import { bare, isRecord } from '#domain/record'
import { STORE_FAILURES } from '#domain/store-ports'
import type { DueInChannel } from '#domain/rules/stored'
import type {
  ChannelHead,
  Committed,
  DeadLetter,
  DueLimits,
  EntityKey,
  TurnReads,
  TurnState,
  TurnStore,
  TurnWrites,
} from '#domain/store-ports'
import { MemoryRules, openEventsOf } from '#test/support/memory-rules'
import { MemoryScheduled, endedIn } from '#test/support/memory-scheduled'
import { turn } from '#test/support/until'

export type StoreCall = 'takeLane' | 'load' | 'commit' | 'untilDurable'

/**
 * `refuse`: rejects, nothing was done. `lose`: does it, then rejects, as if the answer got lost.
 * `fence`: answers fenced, nothing was done. `hang`: does nothing before `release`, then follows
 * the fault set by then.
 */
export type StoreFault = 'refuse' | 'lose' | 'fence' | 'hang'

export class MemoryTurnStore implements TurnStore {
  /** Called at every call: gives its fault. */
  faultOf: (call: StoreCall) => StoreFault | undefined = () => undefined
  /** Operations whose entries every commit refuses. */
  readonly poison = new Set<OperationId>()
  /** The error for them. */
  poisonError = new Error('poison')
  /** Commits that were made, in order; `operations` are all, whatever the form of their records. */
  readonly commits: TurnWrites[] = []
  readonly loads: TurnReads[] = []
  /** Requests that no correct gateway makes: repeated seqs, holes, second records. */
  readonly violations: string[] = []
  readonly heads = new Map<ChannelId, ChannelHead>()
  readonly operations = new Map<OperationId, Operation>()
  readonly feed: FeedEntry[] = []
  readonly late: LateReading[] = []
  readonly deadLetters: DeadLetter[] = []
  /** Channels whose rows every commit refuses, with the error. */
  readonly refused = new Map<ChannelId, Error>()
  readonly lanes = new Map<number, { epoch: number; place: LanePlace }>()
  readonly #things = new Map<string, string>()
  readonly #events = new Map<string, string>()
  #hung: (() => void)[] = []
  /** Rules and what waits for a time. */
  readonly rules = new MemoryRules()
  readonly scheduled = new MemoryScheduled()

  constructor(channels: readonly ChannelId[] = []) {
    for (const channelId of channels) this.addChannel(channelId)
  }

  addChannel(channelId: ChannelId): void {
    const ref = this.heads.size + 1
    this.heads.set(channelId, { channelId, ref, headSeq: 0, things: 0, openEvents: 0 })
  }

  /** Releases every hanging call. */
  release(): void {
    for (const go of this.#hung.splice(0)) go()
  }

  get hanging(): number {
    return this.#hung.length
  }

  thing(channelId: ChannelId, id: string): Thing | undefined {
    return revived<Thing>(this.#things.get(`${channelId} ${id}`))
  }

  event(channelId: ChannelId, id: string): Event | undefined {
    return revived<Event>(this.#events.get(`${channelId} ${id}`))
  }

  /** All effects as one text in a fixed order. */
  snapshot(): string {
    const sorted = (texts: Iterable<string>): string[] => [...texts].toSorted()
    const byChannel = Object.groupBy(this.feed, ({ channelId }) => channelId)
    return JSON.stringify([
      sorted([...this.heads.values()].map((head) => JSON.stringify(head))),
      sorted([...this.#things].map(String)),
      sorted([...this.#events].map(String)),
      sorted(Object.values(byChannel).map((entries) => JSON.stringify(entries))),
      sorted(this.late.map((late) => JSON.stringify(late))),
      sorted([...this.operations.values()].map((operation) => JSON.stringify(operation))),
      this.rules.snapshot(),
      this.scheduled.snapshot(),
      sorted(this.deadLetters.map(({ lane, payload }) => `${lane} ${payload}`)),
    ])
  }

  takeLane(lease: Lease): Promise<LanePlace | 'fenced'> {
    return this.#call('takeLane', 'fenced', () => {
      const kept = this.lanes.get(lease.lane) ?? { epoch: 0, place: 0 }
      if (kept.epoch > lease.epoch) return 'fenced'
      this.lanes.set(lease.lane, { epoch: lease.epoch, place: kept.place })
      return kept.place
    })
  }

  lastEpoch(): Promise<number> {
    return Promise.resolve(Math.max(0, ...[...this.lanes.values()].map(({ epoch }) => epoch)))
  }

  load(needs: TurnReads): Promise<TurnState> {
    return this.#call('load', undefined, () => {
      this.loads.push(needs)
      const watches = this.rules.watchesOf(needs.watched ?? [])
      return {
        channels: needs.channels.flatMap((id) => this.heads.get(id) ?? []),
        things: needs.things.flatMap((key) => foundIn(this.#things, key)),
        events: [...needs.events, ...openEventsOf(watches)].flatMap((key) =>
          foundIn(this.#events, key),
        ),
        operations: needs.operations.flatMap((id) => this.operations.get(id) ?? []),
        rules: this.rules.of(needs.channels),
        watches,
        scheduled: this.scheduled.of(needs.scheduled ?? []),
      }
    })
  }

  commit(writes: TurnWrites): Promise<Committed> {
    const lanes = writes.lanes.map(({ lane }) => lane)
    return this.#call('commit', { kind: 'fenced', lanes }, () => this.#commit(writes))
  }

  due(
    lane: number,
    upTo: number,
    { max, except = [] }: DueLimits = {},
  ): Promise<readonly DueInChannel[]> {
    const thingsOf = (channelId: ChannelId): readonly string[] =>
      [...this.#things.keys()].flatMap((key) =>
        key.startsWith(channelId) ? [key.slice(channelId.length + 1)] : [],
      )
    return this.#call('load', undefined, () => {
      const messages = this.scheduled.due({ lane, upTo, max, except })
      return this.rules.addDue(messages, { lane, upTo, max, except, thingsOf })
    })
  }

  nextDue(lane: number): Promise<number | undefined> {
    const times = [this.rules.nextDue(lane), this.scheduled.nextDue(lane)]
    const next = Math.min(...times.map((time) => time ?? Infinity))
    return Promise.resolve(next === Infinity ? undefined : next)
  }

  deadlines(lane: number): Promise<number> {
    return Promise.resolve(this.rules.waiting(lane) + this.scheduled.waiting(lane))
  }

  untilDurable(): Promise<void> {
    return this.#call('untilDurable', undefined, () => undefined)
  }

  bindLog(_log: LogState): Promise<void> {
    return Promise.resolve()
  }

  async #call<Answer>(call: StoreCall, fenced: Answer | undefined, work: () => Answer) {
    let fault = this.faultOf(call)
    if (fault === 'hang') {
      await new Promise<void>((resolve) => this.#hung.push(resolve))
      fault = this.faultOf(call)
    }
    await turn()
    if (fault === 'refuse') throw outage(`the store refused ${call}`)
    if (fault === 'fence' && fenced !== undefined) return fenced
    const answer = work()
    if (fault === 'lose') throw outage(`the answer to ${call} got lost`)
    return answer
  }

  #commit(writes: TurnWrites): Committed {
    const lost = writes.lanes.filter(({ lane, epoch, from }) => {
      const kept = this.lanes.get(lane)
      return kept?.epoch !== epoch || kept.place !== from
    })
    if (lost.length > 0) return { kind: 'fenced', lanes: lost.map(({ lane }) => lane) }
    const entries = writes.channels.flatMap((written) => written.entries)
    if (entries.some(({ opId }) => this.poison.has(opId))) throw this.poisonError
    for (const { channelId } of entries) {
      const refusal = this.refused.get(channelId)
      if (refusal !== undefined) throw refusal
    }
    for (const opId of endedIn(writes)) this.operations.delete(opId)
    this.#check(writes)
    this.commits.push({ ...writes, operations: recordsIn(writes) })
    for (const { lane, epoch, to } of writes.lanes) this.lanes.set(lane, { epoch, place: to })
    for (const { head, things, events, rules, scheduled } of writes.channels) {
      this.rules.write(head.channelId, rules)
      this.scheduled.write(head.channelId, scheduled)
      const { channelId } = head
      this.heads.set(channelId, head)
      for (const thing of things) {
        this.#things.set(`${channelId} ${thing.id}`, JSON.stringify(thing))
      }
      for (const event of events) {
        this.#events.set(`${channelId} ${event.id}`, JSON.stringify(event))
      }
    }
    this.scheduled.putOff(writes.putOff)
    this.rules.putOff(writes.putOff)
    this.feed.push(...entries)
    this.late.push(...writes.channels.flatMap(({ late = [] }) => late))
    for (const operation of recordsIn(writes)) this.operations.set(operation.opId, operation)
    this.deadLetters.push(...writes.deadLetters)
    return { kind: 'committed' }
  }

  /** The constraints of a real database: a commit that breaks one is rejected whole. */
  #check(writes: TurnWrites): void {
    const { channels, deadLetters } = writes
    const heads = new Map([...this.heads].map(([id, { headSeq }]) => [id, headSeq]))
    for (const { channelId, seq } of channels.flatMap(({ entries }) => entries)) {
      if (seq !== (heads.get(channelId) ?? 0) + 1) this.#refuse(`seq ${seq} of ${channelId}`)
      heads.set(channelId, seq)
    }
    const opIds = new Set(this.operations.keys())
    for (const { opId } of recordsIn(writes)) {
      if (opIds.has(opId)) this.#refuse(`a second record of ${opId}`)
      opIds.add(opId)
    }
    const placeOf = ({ lane, position, index }: DeadLetter) => `${lane} ${position} ${index}`
    const places = new Set(this.deadLetters.map(placeOf))
    for (const letter of deadLetters) {
      if (places.has(placeOf(letter))) this.#refuse(`dead letter ${placeOf(letter)} twice`)
    }
  }

  #refuse(what: string): never {
    this.violations.push(what)
    throw new Error(`constraint: ${what}`)
  }
}

const recordsIn = ({ operations, batches = [] }: TurnWrites): readonly Operation[] => [
  ...operations,
  ...batches.flat(),
]

/** The error of a store that cannot work now. */
export const outage = (message: string): Error =>
  Object.assign(new Error(message), { name: STORE_FAILURES[0] })

function foundIn<Kept extends Thing | Event>(
  kept: ReadonlyMap<string, string>,
  { channelId, id }: EntityKey,
): (Kept & { readonly channelId: ChannelId })[] {
  const found = revived<Kept>(kept.get(`${channelId} ${id}`))
  return found === undefined ? [] : [{ ...found, channelId }]
}

/** A value that passed through JSON, in records without a prototype, as a store gives it back. */
function revived<Kept>(text: string | undefined): Kept | undefined {
  if (text === undefined) return undefined
  return JSON.parse(text, (_, value: unknown) =>
    isRecord(value) ? Object.assign(bare(), value) : value,
  ) as Kept
}

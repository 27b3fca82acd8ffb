// Runs turns one after the other: decides and commits each, decides the next ahead, repeats failed
// ones.
//
//   collect ─▶ decide ─▶ commit ─┬▶ committed: move on, announce while the next commits
//                 ▲       │      ├▶ fenced: another epoch has the lane; ask the database
//                 └───────┘      └▶ no answer: ask the database where the lanes stand, try again
//             not a small turn
//
// Invariants:
//   turn-line/1. One turn at a time commits, over all owned lanes: under load turns grow and cost
//     less. While a large turn commits, the next one is decided, so that this process and the
//     database work at once. Behind a small turn the loop rests instead, which makes the next turn
//     larger.
//   turn-line/2. When the next turn is already decided, a committed turn is announced while that
//     one commits: announcing first would keep the database waiting. Otherwise it is announced at
//     once. Either way announcements keep the order of the commits, even when later turns fail.
//   turn-line/3. After anything but a commit that answered, what was decided ahead is undecided,
//     and places come from the database alone. (owned-lanes/1)
//   turn-line/4. Every process is told of a large turn: a lane with such does not stand still.
//   W6. A turn that fails while lanes can be taken is split by lane, and then halved until one
//       submission stands alone. If that submission is at fault, it becomes a dead letter and the
//       lane goes on. If the database refuses it for long, its channel is parked and the lane goes
//       on. If the database refuses that too, the store is at fault and the lanes wait: with a full
//       disk, for instance, lanes can be taken while turns fail.

import { announce } from './announcing.ts'
import type { Committed } from './announcing.ts'
import type { ChannelDirectory } from './channel.ts'
import type { Deadlines } from './deadlines.ts'
import type { Verdict } from './isolation.ts'
import type { OwnedLanes } from './owned-lanes.ts'
import { LaneTroubles } from './lane-troubles.ts'
import type { LaneTroublesPorts } from './lane-troubles.ts'
import { collect, isNext } from './lanes.ts'
import type { Measures } from './measures.ts'
import type { SystemOptions, SystemPorts } from './options.ts'
import { commitTurn, decideTurn, undecide } from './turn.ts'
import type { DecidedTurn, TurnEnd } from './turn.ts'
import { isOfChannel, isTick, upToTick } from './turn-item.ts'
import { asksForWaiting } from './turn-reads.ts'
import type { Item, Turn } from './turn-item.ts'

/**
 * Submissions from which on a turn is large, unless half of the greatest turn is fewer.
 * (turn-line/1)
 */
const AHEAD_OF_MIN = 32

export interface TurnLinePorts
  extends
    Pick<SystemPorts, 'store' | 'log' | 'bus' | 'logger' | 'nowMs' | 'soon'>,
    LaneTroublesPorts {
  readonly directory: ChannelDirectory
  readonly ownedLanes: OwnedLanes
  readonly measure: Measures
  readonly deadlines: Deadlines
  /** True once nothing more is begun. */
  readonly isHalted: () => boolean
}

/** What isolation found to be left out. (W6) */
type Isolated = Pick<Turn, 'setAside' | 'tick'>

interface Failed {
  readonly items: readonly Item[]
  readonly isolated: Isolated | undefined
}

export class TurnLine {
  readonly #ports: TurnLinePorts
  readonly #turnMax: number
  readonly #recordsUpdates: boolean
  readonly #troubles: LaneTroubles
  /** A committed turn that is not announced yet. */
  #unannounced: Committed | undefined

  constructor(
    ports: TurnLinePorts,
    { turnMax, recordsUpdates }: Pick<SystemOptions, 'turnMax' | 'recordsUpdates'>,
  ) {
    this.#ports = ports
    this.#turnMax = turnMax
    this.#recordsUpdates = recordsUpdates
    this.#troubles = new LaneTroubles(turnMax, ports)
  }

  /** True while a lane that has items waits for its next attempt. */
  get isPausing(): boolean {
    return this.#troubles.isPausing
  }

  /** Returns the items of the next turn. Each time another lane comes first. */
  async collect(): Promise<readonly Item[]> {
    const { ownedLanes, log, nowMs } = this.#ports
    for (const { lanes, max } of this.#troubles.shares(ownedLanes.lanes)) {
      const items = await collect(lanes, log, max)
      if (items.length > 0) return ownedLanes.refused.upToAttempt(upToTick(items), nowMs())
    }
    return []
  }

  /** True when this process is behind: for at least half of the greatest turn, or in trouble. */
  isLarge(items: readonly Item[]): boolean {
    return items.length * 2 >= this.#turnMax || this.#troubles.isAny
  }

  /**
   * Applies items, and the turns that are decided ahead meanwhile. Items of a failed turn must be
   * collected again. Rejects while the store does not answer.
   */
  async apply(items: readonly Item[], isolated?: Isolated): Promise<void> {
    let underWay = items
    try {
      let turn: DecidedTurn | undefined = await this.#decide(items, { isolated })
      while (turn !== undefined) {
        underWay = turn.items
        turn = await this.#commitAndLookAhead(turn)
      }
    } catch (error) {
      await this.#recover({ items: underWay, isolated }, error)
    }
  }

  async #decide(
    items: readonly Item[],
    { isolated, before }: Pick<Partial<Failed>, 'isolated'> & { readonly before?: DecidedTurn },
  ): Promise<DecidedTurn> {
    const { ownedLanes, nowMs, measure } = this.#ports
    const { lanes, refused } = ownedLanes
    const now = nowMs()
    const setAside = refused.setAside(items, now)
    const turn: Turn = {
      items,
      lanes,
      nowMs: now,
      refused,
      ...(!this.#recordsUpdates && { leavesUpdates: true }),
      ...this.#troubles.tickOf(items),
      ...(isolated ?? (setAside && { setAside })),
      ...(this.#troubles.hasFailed(items) && { isCareful: true }),
    }
    const decided = await decideTurn(this.#ports, turn, before)
    if (decided.items.length < items.length) measure.cut() // turn/2
    ownedLanes.goAhead(decided.moves)
    return decided
  }

  /**
   * Commits a turn; gives the next one if that was decided meanwhile. Rejects when the store did
   * not answer. Unless it gives a next turn, no turn is left decided.
   */
  async #commitAndLookAhead(turn: DecidedTurn): Promise<DecidedTurn | undefined> {
    const { ownedLanes, isHalted } = this.#ports
    let next: DecidedTurn | undefined
    const before = this.#takeUnannounced()
    const committing = this.#commit(turn)
    const telling = before && this.#break().then(() => this.#tell(before)) // turn-line/2
    const [committed, ahead] = await Promise.allSettled([
      committing.then(async (end) => {
        await telling
        if (next === undefined) this.#tell(this.#takeUnannounced()) // turn-line/2
        return end
      }),
      this.#mayLookAhead(turn) ? this.#decideNext(turn).then((decided) => (next = decided)) : null,
      telling,
    ])
    const isCommitted = committed.status === 'fulfilled' && committed.value.kind === 'committed'
    if (isCommitted && next !== undefined && !isHalted()) return next
    this.#tell(this.#takeUnannounced()) // turn-line/2
    if (next !== undefined) undecide(next)
    ownedLanes.fallBack() // turn-line/3
    if (committed.status === 'rejected') throw committed.reason
    if (ahead.status === 'rejected') throw ahead.reason
    if (committed.value.kind === 'fenced') await ownedLanes.askAgain(committed.value.lanes)
    return undefined
  }

  async #commit(turn: DecidedTurn): Promise<TurnEnd> {
    const { nowMs, measure, deadlines } = this.#ports
    const end = await commitTurn(this.#ports, turn)
    if (end.kind === 'fenced') return end
    const { moves, items } = turn
    this.#moveOn({ ...end, moves, items })
    this.#ticked(turn)
    measure.turn((nowMs() - turn.nowMs) / 1000, items.length, end)
    measure.rules(turn)
    void deadlines.committed(turn, turn.writes.channels)
    return end
  }

  #ticked({ items, writes: { putOff }, tick: limits }: DecidedTurn): void {
    const { logger, measure, ownedLanes, nowMs } = this.#ports
    const tick = items.find(isTick)
    if (tick !== undefined) this.#troubles.ticked(tick.lane, limits?.putsOff === true)
    if (putOff === undefined) return
    measure.putOff()
    const { channelId, item, until } = putOff
    if (tick !== undefined && ownedLanes.refused.has(channelId)) {
      ownedLanes.refused.failed(channelId, tick.lane, nowMs())
    }
    logger.error('a deadline is put off: its turn fails', { channelId, ...item, until })
  }

  #moveOn(committed: Committed): void {
    const { logger, ownedLanes } = this.#ports
    const { moves, channels } = committed
    const lanes = moves.map(({ lane }) => lane)
    this.#troubles.committed(lanes, channels)
    ownedLanes.moveOn(moves)
    this.#unannounced = committed
    for (const channelId of ownedLanes.refused.size === 0 ? [] : channels.keys()) {
      if (!ownedLanes.refused.taken(channelId)) continue
      logger.info('the database takes rows of a channel again', { channelId })
    }
    if (committed.deadLetters > 0) {
      logger.error('submissions set aside as dead letters', { count: committed.deadLetters })
    }
  }

  /** Lets the tasks run that already wait for this thread. */
  #break(): Promise<void> {
    return new Promise((resolve) => this.#ports.soon(resolve))
  }

  #takeUnannounced(): Committed | undefined {
    const unannounced = this.#unannounced
    this.#unannounced = undefined
    return unannounced
  }

  #tell(unannounced: Committed | undefined): void {
    if (unannounced === undefined) return
    announce(this.#ports.bus, unannounced, this.isLarge(unannounced.items)) // turn-line/4
  }

  /** turn-line/1: true when the next turn may be decided while this one commits. */
  #mayLookAhead({ items, nowMs }: Turn): boolean {
    const { ownedLanes, directory, isHalted } = this.#ports
    if (!this.isLarge(items) && items.length < AHEAD_OF_MIN) return false
    if (this.#troubles.isAny || isHalted()) return false
    return !ownedLanes.isChanged && directory.isTidy(nowMs)
  }

  async #decideNext(before: DecidedTurn): Promise<DecidedTurn | undefined> {
    const items = await this.collect()
    if (items.length === 0 || items.some(asksForWaiting)) return undefined // R7, scheduling/1
    return this.#decide(items, { before })
  }

  /**
   * W6: splits the turn by lane, then halves it until one submission stands alone. Rejects when the
   * lanes have to wait: in an outage, or because the submission cannot be set aside either.
   */
  async #recover({ items, isolated }: Failed, error: unknown): Promise<void> {
    const { ownedLanes, measure, logger } = this.#ports
    measure.retried()
    await ownedLanes.askAgain([...ownedLanes.lanes.keys()])
    const [first] = items
    const place = first === undefined ? undefined : ownedLanes.lanes.get(first.lane)?.place
    // The turn was committed and only its answer was lost, or another process owns the lane.
    if (first === undefined || place === undefined || !isNext(first, place)) return
    if (isolated !== undefined) throw error
    const verdict = items.length === 1 ? this.#verdict(first, error) : 'again'
    if (verdict === 'wait') throw error
    if (verdict === 'put-off') return this.apply([first], { tick: { putsOff: true } })
    const setAside = new Map([[first, String(error)]])
    if (verdict === 'refuse') {
      await this.apply([first], { setAside })
      return this.#refuse(first, error)
    }
    const facts = { error: String(error), submissions: items.length }
    logger.warn('a turn failed and is taken again', facts)
    this.#troubles.failed(items)
    return verdict === 'set-aside' ? this.apply([first], { setAside }) : undefined
  }

  #verdict(only: Item, error: unknown): Verdict {
    const { refused } = this.#ports.ownedLanes
    const { isolation, failures, dueMax } = this.#troubles.of(only.lane)
    const isRefused = isOfChannel(only.submission) && refused.has(only.submission.channelId)
    const verdict = isRefused
      ? isolation.again(error)
      : isolation.verdict(only, error, { failures: failures + 1, dueMax })
    return verdict === 'refuse' && !isRefused && !refused.hasRoom ? 'wait' : verdict
  }

  /** W6: the submissions behind, of the same channel, become dead letters for a while. */
  #refuse({ submission, lane }: Item, error: unknown): void {
    const { logger, ownedLanes, nowMs } = this.#ports
    if (!isOfChannel(submission)) return
    const { channelId } = submission
    if (!ownedLanes.refused.failed(channelId, lane, nowMs())) return
    logger.error('the database refuses rows of a channel', { channelId, error: String(error) })
  }
}

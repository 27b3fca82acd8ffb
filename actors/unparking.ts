// Applies the submissions of a parked channel once the database takes its rows again. (W6)
// A failure concerns its channel alone: it waits longer (parked/3), and the lanes go on.
//
// Invariants:
//   W2. The turn moves its lane from its place to the same place: a process that lost the lane
//       applies nothing. The same commit takes what it applies out of the table.
//   W6. The oldest submission becomes a dead letter when a defect of this program fails it again
//       and again: the others would wait for ever. An error of the database may pass.

import type { Bus, NowMs } from '#domain/ports'
import type { Unreadable } from '#domain/lane'
import { STORE_BUSY, STORE_FAILURES } from '#domain/store-ports'
import type { Waiting } from '#domain/parked'
import type { TurnStore } from '#domain/store-ports'
import type { Submission } from '#domain/submission'
import type { Logger } from '#domain/telemetry'
import type { ChannelDirectory } from './channel.ts'
import type { Deadlines } from './deadlines.ts'
import { GIVEN_UP_AFTER } from './isolation.ts'
import type { OwnedLane } from './lanes.ts'
import type { Measures } from './measures.ts'
import type { OwnedLanes } from './owned-lanes.ts'
import type { ParkedChannel } from './parked-channels.ts'
import { commitTurn, decideTurn } from './turn.ts'
import type { Turn } from './turn-item.ts'

export interface UnparkingPorts {
  readonly store: TurnStore
  readonly directory: ChannelDirectory
  readonly ownedLanes: OwnedLanes
  readonly deadlines: Pick<Deadlines, 'know'>
  readonly bus: Bus
  readonly logger: Logger
  readonly measure: Measures
  readonly nowMs: NowMs
  /** Reads a submission from its stored text. */
  readonly readSubmission: (payload: string) => Submission | Unreadable
}

const STORE_ERRORS: ReadonlySet<string> = new Set([STORE_BUSY, ...STORE_FAILURES])

/** True when an attempt is due. */
export const isUnparkingDue = ({ ownedLanes, nowMs }: UnparkingPorts): boolean =>
  ownedLanes.parked.due(nowMs()) !== undefined

/** Tries the parked channel that is due first, if there is one. Never rejects. */
export async function unpark(ports: UnparkingPorts): Promise<void> {
  const { ownedLanes, logger, nowMs } = ports
  const channel = ownedLanes.parked.due(nowMs())
  const lane = channel && ownedLanes.lanes.get(channel.lane)
  if (channel === undefined || lane === undefined) return
  try {
    await apply(ports, { channel, lane })
  } catch (error) {
    if (await isSetAside(ports, { channel, lane }, error)) return
    ownedLanes.parked.failed(channel, nowMs()) // parked/3
    const { channelId, waiting } = channel
    logger.warn('a parked channel keeps waiting', { channelId, waiting, error: String(error) })
  }
}

interface Target {
  readonly channel: ParkedChannel
  readonly lane: OwnedLane
}

/** W6 */
async function isSetAside(ports: UnparkingPorts, target: Target, error: unknown) {
  const isOfDatabase = error instanceof Error && STORE_ERRORS.has(error.name)
  if (isOfDatabase || target.channel.failures < GIVEN_UP_AFTER) return false
  return apply(ports, target, String(error)).then(
    () => true,
    () => false,
  )
}

/** `poison`: the reason for which the oldest submission is given up. */
async function apply(ports: UnparkingPorts, { channel, lane }: Target, poison?: string) {
  const { store, ownedLanes, deadlines, bus, logger, measure, nowMs } = ports
  const { channelId, size } = channel
  const waiting = await store.waitingFor(channelId, size)
  const plain = turnOf(ports, { waiting, channel, lane })
  const [oldest] = plain.items
  const isGivenUp = poison !== undefined && oldest !== undefined
  const turn = isGivenUp ? { ...plain, poisoned: new Map([[oldest, poison]]) } : plain
  const decided = await decideTurn(ports, turn)
  const end = await commitTurn(ports, decided)
  if (end.kind === 'fenced') return ownedLanes.askAgain(end.lanes)
  measure.turn((nowMs() - turn.nowMs) / 1000, waiting.length, end)
  bus.announce([...end.entries].map(([id, entries]) => ({ channelId: id, entries })))
  if (end.queued.length > 0) bus.notify({ kind: 'pushes-queued' })
  if (!ownedLanes.parked.applied(channel, waiting.length, nowMs())) return undefined
  deadlines.know(lane.lane, nowMs()) // What was due meanwhile.
  logger.info('a channel is no longer parked', { channelId })
  return undefined
}

interface Unparking extends Target {
  readonly waiting: readonly Waiting[]
}

function turnOf(
  { readSubmission, nowMs }: Pick<UnparkingPorts, 'readSubmission' | 'nowMs'>,
  { waiting, channel: { channelId }, lane: { lane, epoch, place } }: Unparking,
): Turn {
  const items = waiting.map(({ position, index, payload }) => {
    return { lane, position, index, placeAfter: place, submission: readSubmission(payload) }
  })
  return {
    items,
    moves: [{ lane, epoch, from: place, to: place }], // W2
    nowMs: nowMs(),
    isCareful: true,
    unparks: { channelId, throughId: waiting.at(-1)?.id ?? 0 },
  }
}

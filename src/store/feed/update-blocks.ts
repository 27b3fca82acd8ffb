// Updates of Things in compressed blocks, written once (gathering.ts), read as the rows that they
// were, and removed whole.
//
// Invariants:
//   update-blocks/1. An update reads back equal to its row, byte for byte.
//   update-blocks/2. A block has at most ENTRIES_MAX updates, and BLOCK_BYTES_MAX of payload unless
//     it has one update only: so what a reader unpacks at once is bounded. (W7)

import { isGatewayForm, isOperationOf, operationIdFrom } from '#domain/identity'
import type { OperationId } from '#domain/identity'
import type { FeedRow, UpdateBlockRow, UpdatePlaceRow } from '#src/store/entities/feed'
import type { Numbered } from '#src/store/dialect'
import type { Executor } from '#src/store/jobs/executor'
import { allForEach } from '#src/store/statements/gathered'
import { memberAt, pack, unpack } from '#src/store/statements/packed'

export type UpdateRow = FeedRow & Numbered

/** More save 2 bytes an update, and a reader of one update unpacks them all. */
const ENTRIES_MAX = 128
const BLOCK_BYTES_MAX = 65_536
/** Blocks of one statement. */
const BLOCKS_AT_ONCE = 4
/** Bytes of the random part of an op_id, and where its text begins. */
const RANDOM_BYTES = 16
const RANDOM_AT = 14

/** The members of the updates of a block, column by column. Their payloads follow as one text. */
interface Columns {
  /** Each channel with the number of its updates. */
  readonly channels: readonly (readonly [channel: number, updates: number])[]
  /** The first seq of each channel, then the distance from the seq before. */
  readonly seqs: readonly number[]
  readonly models: readonly FeedRow['model'][]
  readonly actions: readonly FeedRow['action'][]
  readonly entities: readonly FeedRow['entityId'][]
  readonly states: readonly FeedRow['state'][]
  readonly revs: readonly FeedRow['rev'][]
  /** Milliseconds from the first update. */
  readonly times: readonly number[]
  readonly firstAt: number
  /** 0 for an op_id of the gateway, whose random part stands in front; any other as it is. */
  readonly opIds: readonly (OperationId | 0)[]
  /** The characters of each payload. */
  readonly lengths: readonly number[]
}

export interface Block {
  readonly row: UpdateBlockRow
  readonly places: readonly UpdatePlaceRow[]
}

/** Blocks of updates in the order of channel and seq. (update-blocks/2) */
export function* blocksOf(updates: readonly UpdateRow[]): Generator<Block> {
  let start = 0
  let bytes = 0
  for (const [index, { payload }] of updates.entries()) {
    const isFull = index - start === ENTRIES_MAX || bytes + payload.length > BLOCK_BYTES_MAX
    if (isFull && index > start) {
      yield blockOf(updates.slice(start, index))
      start = index
      bytes = 0
    }
    bytes += payload.length
  }
  if (start < updates.length) yield blockOf(updates.slice(start))
}

function blockOf(updates: readonly UpdateRow[]): Block {
  const id = Math.min(...updates.map((update) => update.id))
  const byChannel = [...Map.groupBy(updates, ({ channel }) => channel)]
  const places = byChannel.map(([channel, own]) => ({
    channel,
    lastSeq: own.at(-1)?.seq ?? 0,
    lastAt: Math.max(...own.map(({ acceptedAt }) => acceptedAt)),
    block: id,
  }))
  const lastAt = Math.max(...places.map((place) => place.lastAt))
  const content = contentOf(updates, byChannel)
  return { row: { id, lastAt, entries: updates.length, places: places.length, content }, places }
}

function contentOf(
  updates: readonly UpdateRow[],
  byChannel: readonly (readonly [number, readonly UpdateRow[]])[],
): Buffer {
  const firstAt = updates[0]?.acceptedAt ?? 0
  const opIds = updates.map((update) => (isMade(update) ? 0 : update.opId))
  const columns: Columns = {
    channels: byChannel.map(([channel, { length }]) => [channel, length]),
    seqs: byChannel.flatMap(([, own]) => own.map(({ seq }, at) => seq - (own[at - 1]?.seq ?? 0))),
    models: updates.map(({ model }) => model),
    actions: updates.map(({ action }) => action),
    entities: updates.map(({ entityId }) => entityId),
    states: updates.map(({ state }) => state),
    revs: updates.map(({ rev }) => rev),
    times: updates.map(({ acceptedAt }) => acceptedAt - firstAt),
    firstAt,
    opIds,
    lengths: updates.map(({ payload }) => payload.length),
  }
  const made = updates.filter((_, at) => opIds[at] === 0)
  const random = made.map(({ opId }) => opId.slice(RANDOM_AT)).join('')
  const text = `${JSON.stringify(columns)}\n${updates.map(({ payload }) => payload).join('')}`
  return Buffer.concat([Buffer.of(made.length), Buffer.from(random, 'hex'), pack(text)])
}

/** True when the random part of an op_id says all that the time of acceptance does not. */
const isMade = ({ opId, acceptedAt }: UpdateRow): boolean =>
  isGatewayForm(opId) && isOperationOf(opId, acceptedAt)

/**
 * The updates of one channel in a block, or of all of them, in the order of channel and seq.
 * (update-blocks/1)
 */
export function updatesIn(content: Uint8Array, wanted?: number): readonly FeedRow[] {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length)
  const textAt = 1 + (bytes[0] ?? 0) * RANDOM_BYTES
  const text = unpack(bytes.subarray(textAt))
  const payloadsAt = text.indexOf('\n') + 1
  const columns = JSON.parse(text.slice(0, payloadsAt)) as Columns
  const updates: FeedRow[] = []
  let index = 0
  let at = payloadsAt
  let randomAt = 1
  for (const [channel, count] of columns.channels) {
    let seq = 0
    for (const end = index + count; index < end; index += 1) {
      seq += memberAt(columns.seqs, index)
      const opId = memberAt(columns.opIds, index)
      const payloadAt = at
      const opAt = randomAt
      at += memberAt(columns.lengths, index)
      if (opId === 0) randomAt += RANDOM_BYTES
      if (wanted !== undefined && channel !== wanted) continue
      const acceptedAt = columns.firstAt + memberAt(columns.times, index)
      const random = (): string => bytes.toString('hex', opAt, opAt + RANDOM_BYTES)
      updates.push({
        channel,
        seq,
        model: memberAt(columns.models, index),
        action: memberAt(columns.actions, index),
        entityId: memberAt(columns.entities, index),
        opId: opId === 0 ? operationIdFrom(acceptedAt, random()) : opId,
        state: memberAt(columns.states, index),
        rev: memberAt(columns.revs, index),
        acceptedAt,
        payload: text.slice(payloadAt, at),
      })
    }
  }
  return updates
}

interface Behind {
  readonly channel: number
  readonly after: number
  /** Leaves out blocks of which every update was accepted before this time. */
  readonly sinceMs?: number | undefined
}

type Held = Pick<UpdatePlaceRow, 'lastSeq'> & Pick<UpdateBlockRow, 'content'>

const HELD = `SELECT p.last_seq AS lastSeq, b.content FROM update_places p
  CROSS JOIN update_blocks b ON b.id = p.block WHERE p.channel = ?`

/** The updates of a channel behind a seq that blocks hold, block by block. */
export async function* updatesBehind(
  executor: Executor,
  { channel, after, sinceMs = 0 }: Behind,
): AsyncGenerator<readonly FeedRow[]> {
  let last = after
  for (;;) {
    const held = await executor.all<Held>(
      `${HELD} AND p.last_seq > ? AND p.last_at >= ? ORDER BY p.last_seq LIMIT ?`,
      [channel, last, sinceMs, BLOCKS_AT_ONCE],
    )
    for (const { content } of held) {
      yield updatesIn(content, channel).filter(({ seq }) => seq > after)
    }
    last = held.at(-1)?.lastSeq ?? last
    if (held.length < BLOCKS_AT_ONCE) return
  }
}

/** The updates at these places, as far as blocks hold them. */
export async function updatesAtPlaces(
  executor: Executor,
  places: readonly Pick<FeedRow, 'channel' | 'seq'>[],
): Promise<readonly FeedRow[]> {
  const held = await allForEach<Held>(
    executor,
    `${HELD} AND p.last_seq >= ? ORDER BY p.last_seq LIMIT 1`,
    places.map(({ channel, seq }) => [channel, seq]),
  )
  return places.flatMap(({ channel, seq }, at) =>
    (held[at] ?? []).flatMap(({ content }) =>
      updatesIn(content, channel).filter((update) => update.seq === seq),
    ),
  )
}

// The form of the blocks that have the updates of Things: a turn writes its updates as blocks,
// small ones are joined later (joining.ts), and retention removes them whole.
//
// Invariants:
//   update-blocks/1. An update reads back equal to the entry that was written, byte for byte.
//   update-blocks/2. A block has at most ENTRIES_MAX updates, and BLOCK_BYTES_MAX of payload unless
//     it has one update only: so what a reader unpacks at once is bounded. (W7)
//   update-blocks/3. A late reading is an update without a seq, in the place where it came among
//     those of its channel. No reader of the feed gets it.

import type { FeedEntry } from '#domain/feed'
import { isGatewayForm, isOperationOf, operationIdFrom } from '#domain/identity'
import type { OperationId } from '#domain/identity'
import type { Dialect } from '#src/store/dialect'
import type { FeedRow, UpdateBlockRow, UpdatePlaceRow } from '#src/store/entities/feed'
import { memberAt, pack, unpack } from '#src/store/statements/packed'

/** The members of an update, with or without the channel. */
type Update = Pick<FeedEntry, 'opId' | 'model' | 'action' | 'entityId' | 'acceptedAt'> & {
  /** Undefined for a late reading. */
  readonly seq?: number | undefined
  readonly state?: string | null
  readonly rev?: number | null
  readonly payload: string
}

/** An update, and the store's own number of its channel. */
export interface UpdateOf {
  readonly ref: number
  readonly item: Update
}

/** More save 2 bytes an update, and a reader of one update unpacks them all. */
const ENTRIES_MAX = 128
const BLOCK_BYTES_MAX = 65_536
/** Compressing a block of a few updates would cost more than it saves: it is joined later. */
const DEFLATED_BYTES_MIN = 4_096
/** Bytes of the random part of an op_id, and where its text begins. */
const RANDOM_BYTES = 16
const RANDOM_AT = 14

/** The members of the updates of a block, column by column. Their payloads follow as one text. */
interface Columns {
  /** Each channel with the number of its updates. */
  readonly channels: (readonly [channel: number, updates: number])[]
  /** The first seq of each channel, then the distance from the seq before; 0 for none. */
  readonly seqs: number[]
  readonly models: FeedRow['model'][]
  readonly actions: FeedRow['action'][]
  readonly entities: FeedRow['entityId'][]
  readonly states: FeedRow['state'][]
  readonly revs: FeedRow['rev'][]
  /** Milliseconds from the first update. */
  readonly times: number[]
  readonly firstAt: number
  /** 0 for an op_id of the gateway, whose random part stands in front; any other as it is. */
  readonly opIds: (OperationId | 0)[]
  /** The characters of each payload. */
  readonly lengths: number[]
}

/** A block, but for the number that its writer gives it. */
export interface Block {
  readonly entries: number
  readonly content: Buffer
  readonly lastAt: number
  /** `lastSeq` is 0 where a channel has late readings alone. */
  readonly places: readonly Pick<UpdatePlaceRow, 'channel' | 'lastSeq' | 'lastAt'>[]
}

/** Blocks of updates that come in the order of channel and seq. (update-blocks/2) */
export function* blocksOf(updates: readonly UpdateOf[]): Generator<Block> {
  let start = 0
  let bytes = 0
  for (let index = 0; index < updates.length; index += 1) {
    const length = updates[index]?.item.payload.length ?? 0
    const isFull = index - start === ENTRIES_MAX || bytes + length > BLOCK_BYTES_MAX
    if (isFull && index > start) {
      yield blockOf(updates, start, index)
      start = index
      bytes = 0
    }
    bytes += length
  }
  if (start < updates.length) yield blockOf(updates, start, updates.length)
}

function blockOf(updates: readonly UpdateOf[], start: number, end: number): Block {
  const firstAt = updates[start]?.item.acceptedAt ?? 0
  const columns: Columns = {
    channels: [],
    seqs: [],
    models: [],
    actions: [],
    entities: [],
    states: [],
    revs: [],
    times: [],
    firstAt,
    opIds: [],
    lengths: [],
  }
  const places: Block['places'][number][] = []
  let random = ''
  let payloads = ''
  let blockLastAt = -Infinity
  for (let from = start, to; from < end; from = to) {
    const channel = updates[from]?.ref ?? 0
    let seq = 0
    let lastAt = -Infinity
    for (to = from; to < end; to += 1) {
      const update = updates[to]
      if (update?.ref !== channel) break
      const { item } = update
      columns.seqs.push(item.seq === undefined ? 0 : item.seq - seq)
      columns.models.push(item.model)
      columns.actions.push(item.action)
      columns.entities.push(item.entityId)
      columns.states.push(item.state ?? null)
      columns.revs.push(item.rev ?? null)
      columns.times.push(item.acceptedAt - firstAt)
      columns.lengths.push(item.payload.length)
      payloads += item.payload
      if (isMade(item)) {
        columns.opIds.push(0)
        random += item.opId.slice(RANDOM_AT)
      } else columns.opIds.push(item.opId)
      seq = item.seq ?? seq
      if (item.acceptedAt > lastAt) lastAt = item.acceptedAt
    }
    columns.channels.push([channel, to - from])
    places.push({ channel, lastSeq: seq, lastAt })
    if (lastAt > blockLastAt) blockLastAt = lastAt
  }
  const made = Buffer.from(random, 'hex')
  const text = pack(`${JSON.stringify(columns)}\n${payloads}`, DEFLATED_BYTES_MIN)
  const content = Buffer.concat([Buffer.of(made.length / RANDOM_BYTES), made, text])
  return { entries: end - start, content, lastAt: blockLastAt, places }
}

/** The rows of blocks and of their places. */
export interface BlockRows {
  readonly blocks: UpdateBlockRow[]
  readonly places: UpdatePlaceRow[]
}

/** The span of a block; always the same where the database has one span. (update-places.ts) */
export const spanOf = ({ spanBits }: Dialect, block: number): number =>
  spanBits === undefined ? 0 : Math.floor(block / 2 ** spanBits)

interface Written extends Pick<UpdateBlockRow, 'id' | 'isJoined'> {
  readonly dialect: Dialect
}

/** Adds the rows of a block with the number of its first update. */
export function addBlock(
  rows: BlockRows,
  { entries, content, lastAt, places }: Block,
  { id, isJoined, dialect }: Written,
): void {
  rows.blocks.push({ id, lastAt, entries, places: places.length, isJoined, content })
  const span = spanOf(dialect, id)
  for (const place of places) {
    // update-blocks/3: behind no seq; a key of its own, as the number of the block is.
    const lastSeq = place.lastSeq === 0 ? -id : place.lastSeq
    rows.places.push({ span, ...place, lastSeq, block: id })
  }
}

/** True when the random part of an op_id says all that the time of acceptance does not. */
const isMade = ({ opId, acceptedAt }: Update): boolean =>
  isGatewayForm(opId) && isOperationOf(opId, acceptedAt)

/** An update as a block has it; a late reading has no seq. */
export type UpdateRow = Omit<FeedRow, 'seq'> & { readonly seq: FeedRow['seq'] | undefined }

/** False for a late reading. */
export const isEntry = (update: UpdateRow): update is FeedRow => update.seq !== undefined

/** Whose updates of a block are wanted: those of one channel, of one Thing of it, or all. */
export interface Wanted {
  readonly channel?: number | undefined
  readonly entityId?: string | undefined
}

interface Unpacked {
  readonly bytes: Buffer
  readonly text: string
  /** Where the payloads begin in the text. */
  readonly payloadsAt: number
  readonly columns: Columns
}

/** A block whose columns are read, but none of its updates. Throws StoreDefect for others. */
export function unpackedBlock(content: Uint8Array): Unpacked {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length)
  const text = unpack(bytes.subarray(1 + (bytes[0] ?? 0) * RANDOM_BYTES))
  const payloadsAt = text.indexOf('\n') + 1
  return { bytes, text, payloadsAt, columns: JSON.parse(text.slice(0, payloadsAt)) as Columns }
}

/** How many updates of a channel a block has. */
export const countOf = ({ columns }: Unpacked, channel: number): number =>
  columns.channels.find(([one]) => one === channel)?.[1] ?? 0

/**
 * The wanted updates of a block in the order of channel and seq, late readings among them.
 * (update-blocks/1)
 */
export function rowsOf(
  { bytes, text, payloadsAt, columns }: Unpacked,
  wanted: Wanted = {},
): readonly UpdateRow[] {
  const updates: UpdateRow[] = []
  let index = 0
  let at = payloadsAt
  let randomAt = 1
  for (const [channel, count] of columns.channels) {
    let seq = 0
    for (const end = index + count; index < end; index += 1) {
      const distance = memberAt(columns.seqs, index)
      seq += distance
      const opId = memberAt(columns.opIds, index)
      const payloadAt = at
      const opAt = randomAt
      at += memberAt(columns.lengths, index)
      if (opId === 0) randomAt += RANDOM_BYTES
      if (wanted.channel !== undefined && channel !== wanted.channel) continue
      const entityId = memberAt(columns.entities, index)
      if (wanted.entityId !== undefined && entityId !== wanted.entityId) continue
      const acceptedAt = columns.firstAt + memberAt(columns.times, index)
      const random = (): string => bytes.toString('hex', opAt, opAt + RANDOM_BYTES)
      updates.push({
        channel,
        seq: distance === 0 ? undefined : seq,
        model: memberAt(columns.models, index),
        action: memberAt(columns.actions, index),
        entityId,
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

/** The wanted updates of a block as it is kept. */
export const updatesIn = (content: Uint8Array, wanted?: Wanted): readonly UpdateRow[] =>
  rowsOf(unpackedBlock(content), wanted)

/** The wanted updates without late readings: entries of the feed. */
export const entriesIn = (content: Uint8Array, wanted?: Wanted): readonly FeedRow[] =>
  updatesIn(content, wanted).filter(isEntry)

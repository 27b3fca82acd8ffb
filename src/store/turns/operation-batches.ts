// Records of batches: the operations of a batch that ended at once, in one row.
//
// An op_id that the gateway made begins with the time of acceptance. So the row that has it is
// among those whose operations were accepted around that time, and one look into an index finds
// them.
//
// Invariants:
//   operation-batches/1. The operations of a row were accepted within SPAN_MS of the first one: who
//     looks for an op_id looks at the rows of that stretch alone.
//   operation-batches/2. A batch that stands in the log twice has a row with the same key, which
//     the database refuses: the turn is then decided anew with every op_id looked up.
//     (turn-records/4)
//   operation-batches/3. The rows of a turn come in the order of their keys, whatever their lanes:
//     an index that grows in the middle keeps its pages half empty.

import { isGatewayForm, operationIdFrom, operationTimeOf, operationsFrom } from '#domain/identity'
import type { ChannelId, EntityId, OperationId } from '#domain/identity'
import type { Operation } from '#domain/operation'
import type { SubmissionModel } from '#domain/submission'
import type { OperationBatchRow } from '#src/store/entities/operations'
import type { Executor } from '#src/store/jobs/executor'
import { allForEach } from '#src/store/statements/gathered'
import { memberAt, pack, unpack } from '#src/store/statements/packed'

const SPAN_MS = 10_000
/** Their rows take a third of a page of InnoDB. */
const OPERATIONS_MAX = 128
/** Bytes of the random part of an op_id, and where its text begins. */
const RANDOM_BYTES = 16
const RANDOM_AT = 14
/** 48 bits beside the time: the whole would stand in each row and once more in the index. */
const KEY_CHARACTERS = 12

/** The members of the operations of a row, column by column. */
type Columns = readonly [
  channels: readonly ChannelId[],
  /** The channel of each, by its place in `channels`. */
  places: readonly number[],
  models: readonly SubmissionModel[],
  entities: readonly EntityId[],
  /** Milliseconds since the first operation. */
  times: readonly number[],
]

/** The rows of the batches of a turn. */
export function batchRows(batches: readonly (readonly Operation[])[]): OperationBatchRow[] {
  const rows = batches.flatMap((batch) => [...rowsOf(batch)])
  return rows.sort((one, other) => (one.firstOp < other.firstOp ? -1 : 1)) // operation-batches/3
}

/** operation-batches/1 */
function* rowsOf(batch: readonly Operation[]): Generator<OperationBatchRow> {
  const inOrder = batch.toSorted((one, other) => (one.opId < other.opId ? -1 : 1))
  let start = 0
  for (let end = 1; end <= inOrder.length; end += 1) {
    const [first, next] = [inOrder[start], inOrder[end]]
    const isWhole =
      next === undefined ||
      end - start === OPERATIONS_MAX ||
      next.acceptedAt >= (first?.acceptedAt ?? 0) + SPAN_MS
    if (first === undefined || !isWhole) continue
    yield rowOf(first, inOrder.slice(start, end))
    start = end
  }
}

function rowOf(first: Operation, operations: readonly Operation[]): OperationBatchRow {
  const numbers = new Map<ChannelId, number>()
  const places: number[] = []
  const models: SubmissionModel[] = []
  const entities: EntityId[] = []
  const times: number[] = []
  let randoms = ''
  for (const { opId, channelId, model, entityId, acceptedAt } of operations) {
    const place = numbers.get(channelId) ?? numbers.size
    if (place === numbers.size) numbers.set(channelId, place)
    places.push(place)
    models.push(model)
    entities.push(entityId)
    times.push(acceptedAt - first.acceptedAt)
    randoms += opId.slice(RANDOM_AT)
  }
  const columns: Columns = [[...numbers.keys()], places, models, entities, times]
  return {
    firstOp: first.opId.slice(0, RANDOM_AT) + first.opId.slice(-KEY_CHARACTERS),
    lastAt: operations.at(-1)?.acceptedAt ?? first.acceptedAt,
    operations: operations.length,
    content: Buffer.concat([Buffer.from(randoms, 'hex'), pack(JSON.stringify(columns))]),
  }
}

/** Finds operations in the records of batches; other op_ids than the gateway's are in none. */
export async function operationsInBatches(
  executor: Executor,
  opIds: readonly OperationId[],
): Promise<readonly Operation[]> {
  const made = opIds.filter(isGatewayForm)
  if (made.length === 0) return []
  const stretches = made.map((opId) => {
    const time = operationTimeOf(opId) ?? 0
    return [operationsFrom(Math.max(0, time - SPAN_MS)), operationsFrom(time + 1), time]
  })
  const rows = await allForEach<BatchContent>(
    executor,
    // operation-batches/1
    `SELECT first_op AS firstOp, operations, content FROM operation_batches
      WHERE first_op >= ? AND first_op < ? AND last_at >= ?`,
    stretches,
  )
  return made.flatMap((opId, at) => {
    const row = (rows[at] ?? []).find((each) => hasRandom(each, opId))
    return row === undefined ? [] : operationsIn(row).filter((each) => each.opId === opId)
  })
}

type BatchContent = Pick<OperationBatchRow, 'firstOp' | 'operations' | 'content'>

/** The operations of a row, in the order of their op_ids. */
export function operationsIn(row: BatchContent): readonly Operation[] {
  const randoms = randomsOf(row)
  const columns = JSON.parse(unpack(row.content.subarray(randoms.length))) as Columns
  const [channels, places, models, entities, times] = columns
  const firstAt = operationTimeOf(row.firstOp) ?? 0
  return times.map((time, index) => {
    const acceptedAt = firstAt + time
    const at = index * RANDOM_BYTES
    return {
      opId: operationIdFrom(acceptedAt, randoms.toString('hex', at, at + RANDOM_BYTES)),
      channelId: memberAt(channels, memberAt(places, index)),
      model: memberAt(models, index),
      entityId: memberAt(entities, index),
      status: 'sent',
      acceptedAt,
      updatedAt: acceptedAt,
    }
  })
}

function randomsOf({ operations, content }: BatchContent): Buffer {
  return Buffer.from(content.buffer, content.byteOffset, operations * RANDOM_BYTES)
}

/** True when the row has the random part of an op_id; cheaper than to unpack it. */
function hasRandom(row: BatchContent, opId: OperationId): boolean {
  return randomsOf(row).includes(Buffer.from(opId.slice(RANDOM_AT), 'hex'))
}

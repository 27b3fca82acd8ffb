import type { FaultCode } from '#domain/fault'
import type { ChannelId, EntityId, OperationId } from '#domain/identity'
import type { OperationStatus } from '#domain/operation'
import type { SubmissionModel } from '#domain/submission'
import type { ColumnTypes } from '#src/store/dialect'
import { key, orNull, tableOf } from './table.ts'
import type { RowOf } from './table.ts'

/** Clustered: op_ids of the gateway begin with the time, so new rows lie together at the end. */
export const operationEntity = ({ integer, text }: ColumnTypes) =>
  tableOf({
    name: 'operations',
    withoutRowid: true,
    columns: {
      opId: key(text<OperationId>(128)),
      channelId: text<ChannelId>(26),
      model: text<SubmissionModel>(16),
      entityId: text<EntityId>(64),
      status: text<OperationStatus>(16),
      acceptedAt: integer,
      updatedAt: integer,
      errorCode: orNull(text<FaultCode>(64)),
    },
    indices: [{ name: 'operations_by_accepted_at', columns: ['acceptedAt'] }],
  })

export type OperationRow = RowOf<typeof operationEntity>

/** Rows lie in the order of their commit. The index finds them without their content. */
export const operationBatchEntity = ({ serial, integer, text, bytes }: ColumnTypes) =>
  tableOf({
    name: 'operation_batches',
    columns: {
      id: serial,
      /** The time and the end of the least op_id. */
      firstOp: text(46),
      /** The greatest time of acceptance. */
      lastAt: integer,
      operations: integer,
      /** The operations, packed. (turns/operation-batches.ts) */
      content: bytes,
    },
    indices: [{ name: 'operation_batches_by_op', columns: ['firstOp', 'lastAt'], unique: true }],
  })

/** Operations of one batch that ended at once, in one record. */
export type OperationBatchRow = RowOf<typeof operationBatchEntity>

export const claimEntity = ({ integer, text }: ColumnTypes) =>
  tableOf({
    name: 'claims',
    withoutRowid: true,
    columns: {
      opId: key(text<OperationId>(128)),
      channelId: text<ChannelId>(26),
      thingId: text(64),
      contentHash: text(64),
      messageId: text<EntityId>(64),
      claimedAt: integer,
    },
    indices: [{ name: 'claims_by_claimed_at', columns: ['claimedAt'] }],
  })

export type ClaimRow = RowOf<typeof claimEntity>

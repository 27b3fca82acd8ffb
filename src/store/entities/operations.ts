import type { FaultCode } from '#domain/fault'
import type { ChannelId, EntityId, OperationId } from '#domain/identity'
import type { OperationStatus } from '#domain/operation'
import type { SubmissionModel } from '#domain/submission'
import type { ColumnTypes, Numbered } from '#src/store/dialect'
import { tableOf } from './table.ts'

export type OperationRow = {
  readonly opId: OperationId
  readonly channelId: ChannelId
  readonly model: SubmissionModel
  readonly entityId: EntityId
  readonly status: OperationStatus
  readonly acceptedAt: number
  readonly updatedAt: number
  readonly errorCode: FaultCode | null
}

/** Clustered: op_ids of the gateway begin with the time, so new rows lie together at the end. */
export const operationEntity = ({ integer, text }: ColumnTypes) =>
  tableOf<OperationRow>({
    name: 'operations',
    withoutRowid: true,
    columns: {
      opId: { ...text(128), name: 'op_id', primary: true },
      channelId: { ...text(26), name: 'channel_id' },
      model: text(16),
      entityId: { ...text(64), name: 'entity_id' },
      status: text(16),
      acceptedAt: { ...integer, name: 'accepted_at' },
      updatedAt: { ...integer, name: 'updated_at' },
      errorCode: { ...text(64), name: 'error_code', nullable: true },
    },
    indices: [{ name: 'operations_by_accepted_at', columns: ['acceptedAt'] }],
  })

/** Operations of one batch that ended at once, in one record. */
export type OperationBatchRow = {
  /** The least op_id. */
  readonly firstOp: OperationId
  /** The greatest time of acceptance. */
  readonly lastAt: number
  readonly operations: number
  /** The operations, packed. (turns/operation-batches.ts) */
  readonly content: Uint8Array
}

/** Rows lie in the order of their commit. The index finds them without their content. */
export const operationBatchEntity = ({ serial, integer, text, bytes }: ColumnTypes) =>
  tableOf<OperationBatchRow & Numbered>({
    name: 'operation_batches',
    columns: {
      id: serial,
      firstOp: { ...text(46), name: 'first_op' },
      lastAt: { ...integer, name: 'last_at' },
      operations: integer,
      content: bytes,
    },
    indices: [{ name: 'operation_batches_by_op', columns: ['firstOp', 'lastAt'], unique: true }],
  })

export type ClaimRow = {
  readonly opId: OperationId
  readonly channelId: ChannelId
  readonly thingId: string
  readonly contentHash: string
  readonly messageId: EntityId
  readonly claimedAt: number
}

export const claimEntity = ({ integer, text }: ColumnTypes) =>
  tableOf<ClaimRow>({
    name: 'claims',
    withoutRowid: true,
    columns: {
      opId: { ...text(128), name: 'op_id', primary: true },
      channelId: { ...text(26), name: 'channel_id' },
      thingId: { ...text(64), name: 'thing_id' },
      contentHash: { ...text(64), name: 'content_hash' },
      messageId: { ...text(64), name: 'message_id' },
      claimedAt: { ...integer, name: 'claimed_at' },
    },
    indices: [{ name: 'claims_by_claimed_at', columns: ['claimedAt'] }],
  })

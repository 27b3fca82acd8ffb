// The record of one submission's progress. (decisions.md 5)

import type { FaultCode } from './fault.ts'
import { isGatewayForm, isOperationOf } from './identity.ts'
import type { ChannelId, EntityId, OperationId } from './identity.ts'
import type { SubmissionModel } from './submission.ts'

export const OPERATION_STATUSES = [
  'accepted',
  'processing',
  'scheduled',
  'provider_queued',
  'sent',
  'partially_failed',
  'failed',
  'cancelled',
] as const
export type OperationStatus = (typeof OPERATION_STATUSES)[number]

/** One operation as kept. Times are Unix milliseconds. */
export interface Operation {
  readonly opId: OperationId
  readonly channelId: ChannelId
  readonly model: SubmissionModel
  readonly entityId: EntityId
  readonly status: OperationStatus
  /** Of a scheduled Message the time at which it enters the feed: its record is kept from there. */
  readonly acceptedAt: number
  readonly updatedAt: number
  /** Present only when status is failed. */
  readonly errorCode?: FaultCode
}

/** An operation with the time until which its record is kept. */
export interface KeptOperation extends Operation {
  readonly expiresAt: number
}

/**
 * True for an operation of which its op_id, made by the gateway, says nearly all: it was sent when
 * it was accepted. One record keeps many of them. A client may have chosen an op_id of this form.
 */
export const endedAtOnce = ({ opId, status, acceptedAt, updatedAt }: Operation): boolean =>
  status === 'sent' &&
  updatedAt === acceptedAt &&
  isGatewayForm(opId) &&
  isOperationOf(opId, acceptedAt)

/** The first use of a client's op_id, which decides all later ones. (decisions.md 6) */
export interface Claim {
  readonly opId: OperationId
  readonly channelId: ChannelId
  /** The thing_id of the message, or empty. */
  readonly thingId: string
  /** SHA-256 in hex of the normalised content. */
  readonly contentHash: string
  readonly messageId: EntityId
  readonly claimedAt: number
}

export type ClaimOutcome =
  | { readonly kind: 'fresh' }
  /** Same content and scope: the first claim, whose message_id and time the repeat takes over. */
  | { readonly kind: 'repeat'; readonly first: Claim; readonly applied: boolean }
  | { readonly kind: 'conflict'; readonly code: 'op_id_payload_conflict' | 'op_id_scope_conflict' }

export interface OperationStore {
  find(opId: OperationId): Promise<Operation | undefined>
  /**
   * Atomic over all nodes. A fresh claim is durable when this answers. `isPending`: an operation
   * with this op_id is accepted, and the store may not have it yet. (decisions.md 6)
   */
  claim(claim: Claim, expiredBefore: number, isPending?: boolean): Promise<ClaimOutcome>
}

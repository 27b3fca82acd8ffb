// The jobs of dispatch: what is to be sent and when. What is sent stands in the feed.

import { EntitySchema } from 'typeorm'

import type { OperationId } from '#domain/identity'
import type { ProviderName } from '#domain/push'
import type { ColumnTypes, Numbered } from '#src/store/dialect'

/**
 * `waiting`: to be sent when due. `limited`: the same, and it gives way to a newer change of its
 * Thing. `deferred`: tried and refused for now; what comes behind it on its device waits. `pushed`:
 * sent; it stays until it is due, and until then no update of the same Thing is sent.
 */
export type PushState = 'waiting' | 'limited' | 'deferred' | 'pushed'

export type PushJobRow = {
  readonly provider: ProviderName
  readonly device: number
  /** Of the device's route when the job was made, or tried last. */
  readonly routeRevision: number
  readonly channel: number
  readonly seq: number
  readonly opId: OperationId
  /** The Thing of its entry; null for other entries. */
  readonly thing: string | null
  readonly state: PushState
  readonly queuedAt: number
  /** While it is claimed: when the claim ends. */
  readonly dueAt: number
  readonly expiresAt: number
  /** On the route of `routeRevision`. */
  readonly attempts: number
  /** The worker that has it; empty for nobody. */
  readonly claim: string
}

export const pushJobEntity = ({ serial, integer, text }: ColumnTypes) =>
  new EntitySchema<PushJobRow & Numbered>({
    name: 'push_jobs',
    columns: {
      id: serial,
      provider: text(16),
      device: integer,
      routeRevision: { ...integer, name: 'route_revision' },
      channel: integer,
      seq: integer,
      opId: { ...text(128), name: 'op_id' },
      thing: { ...text(64), nullable: true },
      state: text(16),
      queuedAt: { ...integer, name: 'queued_at' },
      dueAt: { ...integer, name: 'due_at' },
      expiresAt: { ...integer, name: 'expires_at' },
      attempts: integer,
      claim: text(64),
    },
    indices: [
      { name: 'push_jobs_by_due', columns: ['provider', 'dueAt'] },
      { name: 'push_jobs_by_device', columns: ['device', 'state'] },
      { name: 'push_jobs_by_thing', columns: ['device', 'channel', 'thing'] },
      { name: 'push_jobs_by_operation', columns: ['opId'] },
    ],
  })

/** What is known of an operation some of whose jobs have ended and some not. */
export type PushTallyRow = {
  readonly opId: OperationId
  readonly served: number
  readonly failed: number
}

export const pushTallyEntity = ({ integer, text }: ColumnTypes) =>
  new EntitySchema<PushTallyRow>({
    name: 'push_tallies',
    withoutRowid: true,
    columns: {
      opId: { ...text(128), name: 'op_id', primary: true },
      served: integer,
      failed: integer,
    },
  })

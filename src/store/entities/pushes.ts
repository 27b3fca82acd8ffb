// The jobs of dispatch: the entries to send, and their times. The feed holds the content.

import type { OperationId } from '#domain/identity'
import type { ProviderName } from '#domain/push/providers'
import type { ColumnTypes, Numbered } from '#src/store/dialect'
import { tableOf } from './table.ts'

/**
 * `waiting`: sent when due. `limited`: the same, but a newer change of its Thing replaces it.
 * `deferred`: tried, and refused for now; later jobs of its device wait. `pushed`: sent; the row
 * stays until it is due, and until then no update of the same Thing is sent.
 */
export type PushState = 'waiting' | 'limited' | 'deferred' | 'pushed'

export type PushJobRow = {
  readonly provider: ProviderName
  readonly device: number
  /** The revision of the device's route when the job was made, or last tried. */
  readonly routeRevision: number
  readonly channel: number
  readonly seq: number
  readonly opId: OperationId
  /** The Thing of its entry; null for other entries. */
  readonly thing: string | null
  readonly state: PushState
  readonly queuedAt: number
  /** The time at which the job is due; while it is claimed, the end of the claim. */
  readonly dueAt: number
  readonly expiresAt: number
  /** Attempts on the route of `routeRevision`. */
  readonly attempts: number
  /** The worker that has claimed it; empty for none. */
  readonly claim: string
}

export const pushJobEntity = ({ serial, integer, text }: ColumnTypes) =>
  tableOf<PushJobRow & Numbered>({
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

/** The tally of an operation while some of its jobs have ended and some have not. */
export type PushTallyRow = {
  readonly opId: OperationId
  readonly served: number
  readonly failed: number
}

export const pushTallyEntity = ({ integer, text }: ColumnTypes) =>
  tableOf<PushTallyRow>({
    name: 'push_tallies',
    withoutRowid: true,
    columns: {
      opId: { ...text(128), name: 'op_id', primary: true },
      served: integer,
      failed: integer,
    },
  })

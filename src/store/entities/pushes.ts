// The jobs of dispatch: the entries to send, and their times. The feed holds the content.

import type { OperationId } from '#domain/identity'
import type { ProviderName } from '#domain/push/providers'
import type { ColumnTypes } from '#src/store/dialect'
import { key, orNull, tableOf } from './table.ts'
import type { RowOf } from './table.ts'

/**
 * `waiting`: sent when due. `limited`: the same, but a newer change of its Thing replaces it.
 * `deferred`: tried, and refused for now; later jobs of its device wait. `pushed`: sent; the row
 * stays until it is due, and until then no update of the same Thing is sent. `failed`: refused for
 * good; the row stays until it expires, for receipts.
 */
export type PushState = 'waiting' | 'limited' | 'deferred' | 'pushed' | 'failed'

/** The states of a job that has ended, in SQL. */
export const ENDED_STATES = "('pushed', 'failed')"

export const pushJobEntity = ({ serial, integer, text }: ColumnTypes) =>
  tableOf({
    name: 'push_jobs',
    columns: {
      id: serial,
      provider: text<ProviderName>(16),
      device: integer,
      /** The revision of the device's route when the job was made, or last tried. */
      routeRevision: integer,
      channel: integer,
      seq: integer,
      opId: text<OperationId>(128),
      /** The Thing of its entry; null for other entries. */
      thing: orNull(text(64)),
      state: text<PushState>(16),
      queuedAt: integer,
      /** The time at which the job is due; while it is claimed, the end of the claim. */
      dueAt: integer,
      expiresAt: integer,
      /** Attempts on the route of `routeRevision`. */
      attempts: integer,
      /** The worker that has claimed it; empty for none. */
      claim: text(64),
    },
    indices: [
      { name: 'push_jobs_by_due', columns: ['provider', 'dueAt'] },
      { name: 'push_jobs_by_device', columns: ['device', 'state'] },
      { name: 'push_jobs_by_thing', columns: ['device', 'channel', 'thing'] },
      { name: 'push_jobs_by_operation', columns: ['opId'] },
    ],
  })

export type PushJobRow = RowOf<typeof pushJobEntity>

/** The tally of an operation while some of its jobs have ended and some have not. */
export const pushTallyEntity = ({ integer, text }: ColumnTypes) =>
  tableOf({
    name: 'push_tallies',
    withoutRowid: true,
    columns: {
      opId: key(text<OperationId>(128)),
      served: integer,
      failed: integer,
    },
  })

export type PushTallyRow = RowOf<typeof pushTallyEntity>

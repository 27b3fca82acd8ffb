// Pushes to devices through providers: their content and endings, and the ports on both sides of
// dispatch. (decisions.md 11)

import type { FaultCode } from './fault.ts'
import type { FeedEntry } from './feed.ts'
import type { OperationStatus } from './operation.ts'
import type { ProviderName, Platform } from './push/providers.ts'
import type { Severity } from './submission.ts'

/** The route by which a provider reaches a device. */
export interface Route {
  /** The store's own short name of the device. */
  readonly device: number
  readonly platform: Platform
  /** A secret: never logged. */
  readonly token: string
  /**
   * Grows with each change of the device's route, so that a late answer cannot end a newer route.
   */
  readonly revision: number
}

/** One entry of a feed on its way to one device. */
export interface Push {
  /** The store's own short name of the job; jobs of one device are sent in its order. */
  readonly id: number
  readonly provider: ProviderName
  readonly route: Route
  readonly entry: FeedEntry
  /** The present title of the Event or Thing, for entries without one. */
  readonly entityTitle?: string
  /** That of the entry, or of its Event where the entry says none. */
  readonly severity: Severity
  /** Attempts on this route. */
  readonly attempts: number
  /** The time from which it is not sent, in Unix milliseconds. */
  readonly expiresAt: number
  /** The time at which it was first due, in Unix milliseconds. */
  readonly queuedAt: number
  /** True when it makes no sound: its device wants it quiet at this time. */
  readonly isPassive: boolean
}

/** The party that a temporary refusal concerns. */
export type Trouble = 'device' | 'provider' | 'credentials'

/** The meaning of a provider's answer. */
export type Outcome =
  | { readonly kind: 'delivered' }
  /** Refused for now. `afterMs`: the pause that the provider asked for. */
  | {
      readonly kind: 'deferred'
      readonly reason: string
      readonly trouble: Trouble
      readonly afterMs?: number
    }
  /** Refused for good: a repeat would be refused again. */
  | { readonly kind: 'rejected'; readonly reason: string }
  /** The provider no longer knows the device. */
  | { readonly kind: 'gone'; readonly reason: string }

/** A service that carries pushes. */
export interface Provider {
  readonly name: ProviderName
  /** Never rejects: every ending is a value. Calls may run side by side. */
  send(push: Push): Promise<Outcome>
  /** Ends its connections. */
  close(): Promise<void>
}

/**
 * The parts of a push that its ending needs: the content does not cross threads a second time. They
 * are one flat object, since a copy costs by the object.
 */
export interface EndedPush
  extends
    Pick<Push, 'id' | 'attempts'>,
    Pick<Route, 'device' | 'revision' | 'token'>,
    Pick<FeedEntry, 'model'> {}

/** Returns the parts of a push that its ending needs. */
export function endedPush({ id, attempts, route, entry: { model } }: Push): EndedPush {
  const { device, revision, token } = route
  return { id, attempts, device, revision, token, model }
}

/** The ending of a push. */
export type PushEnding =
  | { readonly kind: 'delivered'; readonly push: EndedPush }
  | { readonly kind: 'failed'; readonly push: EndedPush; readonly isGone: boolean }
  /** Its time, route or channel has ended: nothing was sent, and that is no failure. */
  | { readonly kind: 'expired' | 'superseded'; readonly push: EndedPush }
  /** `isAttempt`: it was sent and refused for now; otherwise it only waits. */
  | {
      readonly kind: 'deferred'
      readonly push: EndedPush
      readonly untilMs: number
      readonly isAttempt: boolean
    }

/** The number of operations that ended with each status. */
export type EndedOperations = Partial<Readonly<Record<OperationStatus, number>>>

/** A claim for due jobs. */
export interface PushClaim {
  readonly provider: ProviderName
  /** The name of the claiming process, for as long as it runs. */
  readonly worker: string
  readonly limit: number
  readonly nowMs: number
  /** The time until which no other worker takes them. */
  readonly untilMs: number
}

export interface ClaimedPushes {
  /** Claimed pushes; those of one device in the order in which they must be sent. */
  readonly pushes: readonly Push[]
  /** The number of jobs that ended without being sent. */
  readonly expired: number
  readonly superseded: number
  /** The number of jobs that were set aside, because their entry cannot be read. (W6) */
  readonly unreadable: number
  /** The number of jobs that preferences of their devices leave out. */
  readonly filtered: number
  readonly ended: EndedOperations
  /** True when more jobs may be due now. */
  readonly hasMore: boolean
  /** The time at which the next job is due; undefined without one. */
  readonly nextDueMs: number | undefined
}

/** The worker that settles jobs, and the time. */
export type Settler = Pick<PushClaim, 'worker' | 'nowMs'>

/** The jobs of dispatch, as the store keeps them. */
export interface PushStore {
  /**
   * Takes due jobs for a worker. A job that is claimed is due again when its claim ends: then
   * another worker may take it.
   */
  claim(claim: PushClaim): Promise<ClaimedPushes>
  /** Writes the endings of jobs and moves their operations. A job has one ending. */
  settle(endings: readonly PushEnding[], by: Settler): Promise<EndedOperations>
  /** Keeps claims of a worker until a later time. */
  renew(worker: string, ids: readonly number[], untilMs: number): Promise<void>
  /** Returns claims back: the jobs are due at once. */
  release(worker: string, ids: readonly number[], nowMs: number): Promise<void>
  /**
   * One small step of upkeep, whether or not anybody dispatches: ends jobs that expired long ago,
   * and gives their number. Removes what a clock that was ahead has left of pushes that ended.
   */
  tend(nowMs: number): Promise<number>
  /** Ends every claim, whoever has it: for a sole process that starts. */
  releaseAll(nowMs: number): Promise<void>
  /** The number of waiting jobs, and the time at which the oldest was due; for the operator. */
  backlog(provider: ProviderName): Promise<Backlog>
}

export interface Backlog {
  /** The number of jobs, counted up to a bound. */
  readonly jobs: number
  /** Unix milliseconds; undefined without jobs. */
  readonly oldestDueMs: number | undefined
}

/** The number of targets of an operation that were served, and of those that were not. */
export interface PushTally {
  readonly served: number
  readonly failed: number
}

/** The rules by which the store makes jobs and ends operations. */
export interface PushRules {
  /** The providers for whose devices jobs are made. */
  readonly providers: readonly ProviderName[]
  /** At most one push a device and Thing in this time, in milliseconds. */
  readonly thingIntervalMs: number
  /** The status of an operation for which jobs were made. */
  readonly queued: OperationStatus
  /** The end of an operation once every job has ended. */
  readonly ending: (tally: PushTally) => {
    readonly status: OperationStatus
    readonly errorCode?: FaultCode
  }
}

/** Milliseconds for which a push is tried when its submission does not say. */
export const PUSH_LIFE_MS = 24 * 3_600_000

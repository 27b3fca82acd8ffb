// Pushes to devices through their providers: what is sent, what becomes of it, and the seams on
// both sides of dispatch. (decisions.md 11)

import type { ChannelType, Platform } from './device.ts'
import type { FaultCode } from './fault.ts'
import type { FeedEntry } from './feed.ts'
import type { OperationStatus } from './operation.ts'

/** Services that carry pushes to devices. Each has a folder of src/providers. */
export const PROVIDERS = ['apns', 'fcm'] as const satisfies readonly ChannelType[]
export type ProviderName = (typeof PROVIDERS)[number]

/** How a provider reaches a device. */
export interface Route {
  /** The store's own short name of the device. */
  readonly device: number
  readonly platform: Platform
  /** A secret: never logged. */
  readonly token: string
  /** Grows with each change of the device's route: a late answer cannot end a newer one. */
  readonly revision: number
}

/** One entry of a feed on its way to one device. */
export interface Push {
  /** The store's own short name of the job; jobs of one device are sent in its order. */
  readonly id: number
  readonly provider: ProviderName
  readonly route: Route
  readonly entry: FeedEntry
  /** The title of the Event or Thing as it stands now, for entries that carry none. */
  readonly entityTitle?: string
  /** How often it was tried on this route. */
  readonly attempts: number
  /** Unix milliseconds. From then on it is not sent. */
  readonly expiresAt: number
  /** When it was due first, in Unix milliseconds. */
  readonly queuedAt: number
}

/** Whom a refusal for now concerns. */
export type Trouble = 'device' | 'provider' | 'credentials'

/** What a provider's answer means. */
export type Outcome =
  | { readonly kind: 'delivered' }
  /** Not now. `afterMs` is what the provider asked for. */
  | {
      readonly kind: 'deferred'
      readonly reason: string
      readonly trouble: Trouble
      readonly afterMs?: number
    }
  /** Never: the same again would be refused again. */
  | { readonly kind: 'rejected'; readonly reason: string }
  /** The provider does not know the device any more. */
  | { readonly kind: 'gone'; readonly reason: string }

/** A service that carries pushes. */
export interface Provider {
  readonly name: ProviderName
  /** Never rejects: every ending is a value. Calls may run side by side. */
  send(push: Push): Promise<Outcome>
  /** Ends its connections. */
  close(): Promise<void>
}

/** What of a push its ending needs: what it said crosses no thread twice. */
export type EndedPush = Pick<Push, 'id' | 'route' | 'attempts'> & {
  readonly entry: Pick<FeedEntry, 'model'>
}

/** What became of a push. */
export type PushEnding =
  | { readonly kind: 'delivered'; readonly push: EndedPush }
  | { readonly kind: 'failed'; readonly push: EndedPush; readonly isGone: boolean }
  /** Its time is over, or its route or channel is: nothing was sent, and that is no failure. */
  | { readonly kind: 'expired' | 'superseded'; readonly push: EndedPush }
  /** `isAttempt`: it was sent and refused for now; otherwise it only waits. */
  | {
      readonly kind: 'deferred'
      readonly push: EndedPush
      readonly untilMs: number
      readonly isAttempt: boolean
    }

/** How many operations ended with each status. */
export type EndedOperations = Partial<Readonly<Record<OperationStatus, number>>>

/** Asks for jobs that are due. */
export interface PushClaim {
  readonly provider: ProviderName
  /** Names the process that claims, for as long as it runs. */
  readonly worker: string
  readonly limit: number
  readonly nowMs: number
  /** Until then nobody else takes them. */
  readonly untilMs: number
}

export interface ClaimedPushes {
  /** Those of one device in the order in which they must be sent. */
  readonly pushes: readonly Push[]
  /** Jobs that ended without being sent. */
  readonly expired: number
  readonly superseded: number
  readonly ended: EndedOperations
  /** There may be more that is due now. */
  readonly hasMore: boolean
  /** When the next job is due; undefined without one. */
  readonly nextDueMs: number | undefined
}

/** Who settles jobs, and when. */
export type Settler = Pick<PushClaim, 'worker' | 'nowMs'>

/** The jobs of dispatch, as the store keeps them. */
export interface PushStore {
  /**
   * Takes due jobs for a worker. A job that is claimed is due again when its claim ends: then
   * another worker may take it.
   */
  claim(claim: PushClaim): Promise<ClaimedPushes>
  /** Writes what became of jobs and moves their operations. A job has one ending. */
  settle(endings: readonly PushEnding[], by: Settler): Promise<EndedOperations>
  /** Keeps claims of a worker until a later time. */
  renew(worker: string, ids: readonly number[], untilMs: number): Promise<void>
  /** Gives claims back: the jobs are due at once. */
  release(worker: string, ids: readonly number[], nowMs: number): Promise<void>
  /**
   * One small step of upkeep, whether or not anybody dispatches: ends jobs that expired long ago,
   * and finds subscribers that a node of an older version made. `after` is what the step before
   * gave, 0 at first.
   */
  tend(after: number, nowMs: number): Promise<{ readonly after: number; readonly ended: number }>
  /** Ends every claim, whoever has it: for a sole process that starts. */
  releaseAll(nowMs: number): Promise<void>
  /** How many jobs wait and since when the oldest one is due; for the operator. */
  backlog(provider: ProviderName): Promise<Backlog>
}

export interface Backlog {
  /** Counted up to a bound. */
  readonly jobs: number
  /** Unix milliseconds; undefined without jobs. */
  readonly oldestDueMs: number | undefined
}

/** How many targets of an operation were served, and how many not. */
export interface PushTally {
  readonly served: number
  readonly failed: number
}

/** What the store must know to make jobs and to end operations. */
export interface PushRules {
  /** Jobs are made for devices of these. */
  readonly providers: readonly ProviderName[]
  /** At most one push a device and Thing in this time, in milliseconds. */
  readonly thingIntervalMs: number
  /** The status of an operation for which jobs were made. */
  readonly queued: OperationStatus
  /** How it ends once every job has an ending. */
  readonly ending: (tally: PushTally) => {
    readonly status: OperationStatus
    readonly errorCode?: FaultCode
  }
}

/** How long a push is worth trying when its submission does not say. */
export const PUSH_LIFE_MS = 24 * 3_600_000

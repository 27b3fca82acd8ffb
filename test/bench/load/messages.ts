// Messages between the bench and its load processes.

import type { HolderRecipe } from './holders.ts'
import type { MqttAttackName } from './mqtt-attacks.ts'
import type { Recipe } from './payload.ts'
import type { StrangerRecipe } from './strangers.ts'
import type { Latency } from './statistics.ts'

/**
 * Closed: every connection sends again as soon as it was answered. Open: requests are due on a
 * schedule.
 */
export type Pace =
  | { readonly kind: 'closed' }
  | { readonly kind: 'open'; readonly ratePerSecond: number }

export interface LoadRequest {
  readonly pace: Pace
  readonly durationMs: number
  /** Reports which requests were answered 200, by when they were due. */
  readonly namesAccepted?: boolean
}

export type GeneratorOrder =
  | {
      readonly kind: 'connect'
      /** Connections are spread over these in turn. */
      readonly ports: readonly number[]
      readonly connections: number
      readonly recipe: Recipe | StrangerRecipe | HolderRecipe
    }
  | { readonly kind: 'load'; readonly request: LoadRequest }
  | { readonly kind: 'disconnect' }

/**
 * The report of one run of the generator. Latency is from the due time of a request to its answer.
 */
export interface LoadReport {
  /** Requests that came due; closed loop: those sent. */
  readonly due: number
  readonly answered: number
  readonly accepted: number
  /** Answers by status, others than 200. */
  readonly refused: Readonly<Record<string, number>>
  /** Connections that broke; each may hide one request whose fate is unknown. */
  readonly lost: number
  readonly elapsedMs: number
  readonly acceptedPerSecond: number
  readonly latency: Latency
  /** When each accepted request was due, as its body says: unique. */
  readonly acceptedDueUs?: readonly number[]
}

export interface SubscribeTarget {
  /** Device n connects to port n, and round again. */
  readonly ports: readonly number[]
  readonly token: string
  readonly deviceKeys: readonly string[]
  /** Channels that the devices ask for from their beginning, whatever they acknowledged before. */
  readonly replayed?: readonly string[]
}

export type SubscriberOrder =
  | { readonly kind: 'connect'; readonly target: SubscribeTarget }
  /** Forgets latencies, keeps the totals. */
  | { readonly kind: 'mark' }
  /** Answers when so many entries have come in all, or the time is over. */
  | {
      readonly kind: 'await'
      readonly entries: number
      /** Answers when so many channels are caught up, too. */
      readonly caughtUp?: number
      readonly timeoutMs: number
    }
  | { readonly kind: 'disconnect' }

/** The report of the subscribers: entries since they connected, latencies since the last mark. */
export interface SubscriberReport {
  /** Entries of the feeds, each counted once. */
  readonly entries: number
  /** Entries that came again. */
  readonly repeated: number
  /** Sequence numbers that were passed over: updates conflated into a later one. */
  readonly skipped: number
  readonly gaps: number
  /** Entries sent as the whole state (`sync`) because the device was behind. */
  readonly synced: number
  readonly closed: number
  /** Frames that said that a channel is caught up. */
  readonly caughtUp: number
  readonly latency: Latency
}

/** Connects one idle device for each hello; null: it says nothing. */
export interface IdleOrder {
  readonly port: number
  readonly hellos: readonly (string | null)[]
}

export type MqttOrder =
  /** Connects one client for each user name; each has its part of the Things. */
  | {
      readonly kind: 'connect'
      readonly port: number
      readonly userNames: readonly string[]
      readonly things: number
    }
  /** Every client publishes with at most so many under way, as fast as it can or at a rate in all. */
  | {
      readonly kind: 'publish'
      readonly durationMs: number
      readonly underWay: number
      readonly ratePerSecond?: number
    }

export interface MqttReport {
  /** Acknowledgements a second, while it lasted. */
  readonly perSecond: number
  readonly acknowledged: number
}

/** Sends first packets of QUIC. */
export interface DatagramOrder {
  readonly port: number
  readonly ratePerSecond: number
  readonly durationMs: number
}

export interface DatagramReport {
  readonly sent: number
  /** Answers by which the gateway asks for another first packet. */
  readonly retries: number
}

/** Attacks the MQTT door, over TCP or WebSocket. */
export interface AttackOrder {
  readonly attack: MqttAttackName
  readonly mqttPort: number
  readonly httpPort: number
  /** The connections have them in turn. */
  readonly keys: readonly string[]
  readonly ratePerSecond: number
  readonly durationMs: number
}

export interface AttackReport {
  readonly moves: number
  /** Moves left out, since their connection was not open yet or took no more. */
  readonly late: number
  readonly opened: number
  readonly bytes: number
}

// What crosses between the MQTT door or the bridge and this folder: a PUBLISH goes in, and what the
// gateway makes of it comes out. Every value but the state is immutable.

import type { Intent } from '#src/acceptance/intent'
import type { StoredKey } from '#domain/channel-keys'
import type { Discovered } from '#domain/history/presentation'
import type { FamilyState } from './family-state.ts'
import type { Mapping } from '#src/schemas/mappings/mapping'

/** One PUBLISH, with its topic alias resolved. A will is one too. */
export interface Publish {
  readonly topic: string
  readonly payload: Uint8Array
  /** The time at which the whole packet had arrived, in Unix milliseconds. */
  readonly receivedAtMs: number
  /**
   * True for a copy that another broker kept and sends at a subscription: state is read from it,
   * and no Message or Event, which would repeat an old one. A device's own RETAIN flag does not set
   * it.
   */
  readonly isKeptCopy?: boolean
}

/** The client that publishes, and what its channel has set up. */
export interface Sender {
  /** The Thing of a client whose topics name none. (`ownThingId`) */
  readonly thingId: string
  readonly mappings: readonly Mapping[]
  /** The key that opened the channel; undefined for a password. */
  readonly key: StoredKey | undefined
}

/** What a publish is read with beside itself. */
export interface Connection {
  readonly sender: Sender
  /** What the publishes before it said, to which this one adds. */
  readonly state: FamilyState
}

/** A submission as acceptance takes it, without its credentials. */
export interface Wish {
  /** A device puts no rules. */
  readonly intent: Exclude<Intent, { readonly model: 'rule' }>
  /** Fields of the public route for this intent: `/thing/update`, `/event/close`, `/message`. */
  readonly fields: Readonly<Record<string, unknown>>
  /**
   * The sender's own name for this submission: two publishes with the same one are one submission.
   * It is unique within a channel, 1 to 64 characters of an operation id.
   */
  readonly repeatKey?: string
}

/** A publish for the client that sent the one being read, at QoS 0. */
export interface Reply {
  readonly topic: string
  readonly payload: Uint8Array
}

/** What one publish becomes. */
export interface Translation {
  /** In the order in which they count; empty when the publish says nothing that is kept. */
  readonly wishes: readonly Wish[]
  readonly replies: readonly Reply[]
  /** How the device says that attrs are shown; kept once no submission was refused. */
  readonly discovered?: Discovered
  /**
   * Takes back what the state has learnt, when the publish is refused for what it is; absent when
   * that is nothing.
   */
  readonly forget?: Forget
}

export type Forget = () => void

// Types of the bodies and results of calls, with the names of the HTTP interface; the OpenAPI
// document describes their fields.
// Times are Unix seconds or milliseconds in requests, milliseconds in answers.

import type { ChannelType, Platform } from '#domain/device'
import type { EventState, ThingState } from '#domain/entity'
import type { OperationStatus } from '#domain/operation'
import type { Action, Fields, Json, Model } from '#domain/submission'

export interface Credentials {
  readonly channel_id: string
  /** A secret. */
  readonly password: string
}

/** The reader of a channel: exactly one of password and device_key. */
export type Reader =
  | Credentials
  | { readonly channel_id: string; readonly device_key: string; readonly password?: never }

export type Time = number | string
export type Metadata = { readonly [key: string]: string | number | boolean }

interface Common {
  readonly metadata?: Metadata
  readonly ciphertext?: string
}

export interface MessageBody extends Credentials, Common {
  readonly title: string
  /** Makes the call repeatable: the same op_id with the same content gives the first result. */
  readonly op_id?: string
  readonly body?: string
  readonly severity?: string
  /** Required together with thing_id. */
  readonly occurred_at?: Time
  readonly ttl?: Time
  readonly url?: string
  readonly images?: readonly string[]
  readonly tags?: readonly string[]
  readonly thing_id?: string
}

interface EventPatch extends Credentials, Common {
  readonly event_time: Time
  readonly title?: string
  readonly description?: string
  readonly status?: string
  readonly message?: string
  readonly severity?: string
  readonly tags?: readonly string[]
  readonly images?: readonly string[]
  readonly attrs?: Fields
  readonly thing_id?: string
}

export interface EventCreateBody extends EventPatch {
  readonly started_at?: Time
}

export interface EventUpdateBody extends EventPatch {
  readonly event_id: string
}

export interface EventCloseBody extends EventUpdateBody {
  readonly ended_at?: Time
}

interface ThingPatch extends Credentials, Common {
  readonly observed_at: Time
  readonly title?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly images?: readonly string[]
  readonly primary_image?: string
  readonly location_type?: string
  readonly location_value?: string
  readonly external_ids?: Fields
  readonly attrs?: Fields
}

export interface ThingCreateBody extends ThingPatch {
  readonly created_at?: Time
}

export interface ThingUpdateBody extends ThingPatch {
  readonly thing_id: string
}

export interface ThingDeleteBody extends ThingUpdateBody {
  readonly deleted_at?: Time
}

export interface AcceptedMessage {
  readonly op_id: string
  readonly message_id: string
}

export interface AcceptedEvent {
  readonly op_id: string
  readonly event_id: string
}

export interface AcceptedThing {
  readonly op_id: string
  readonly thing_id: string
}

export interface OperationRecord {
  readonly op_id: string
  readonly status: OperationStatus
  readonly model: Model
  readonly entity_id: string
  readonly accepted_at: number
  readonly updated_at: number
  readonly expires_at: number
  readonly error_code?: string
}

export interface RegisterBody {
  readonly device_key?: string
  readonly platform: Platform
}

export interface Registered {
  /** A secret: the one credential of the device. */
  readonly device_key: string
  readonly issued_new_key: boolean
  readonly issue_reason?: string
}

export interface RouteBody {
  readonly device_key: string
  readonly channel_type: ChannelType
  readonly provider_token?: string
}

export type Route = RouteBody

export interface ChannelName {
  readonly channel_id: string
  readonly channel_name: string
}

export type SubscribeBody = {
  readonly device_key: string
  readonly password: string
} & ({ readonly channel_id: string } | { readonly channel_name: string })

export interface Subscribed extends ChannelName {
  readonly created: boolean
  readonly subscribed: boolean
}

export interface DeviceChannel {
  readonly device_key: string
  readonly channel_id: string
}

export interface SyncBody {
  readonly device_key: string
  readonly channels: readonly Credentials[]
}

export interface Synced {
  readonly total: number
  readonly success: number
  readonly failed: number
  readonly channels: readonly {
    readonly channel_id: string
    readonly channel_name?: string
    readonly subscribed: boolean
    readonly created?: boolean
    readonly error?: string
    readonly error_code?: string
  }[]
}

export interface ChannelFacts extends ChannelName {
  readonly subscribers: number
  readonly created_at: number
  readonly head_seq: number
  readonly things: number
  readonly open_events: number
}

/** A listed key; its key_id is no secret and proves nothing. */
export interface ListedKey {
  readonly key_id: string
  /** The label; empty when none was given. */
  readonly label: string
  readonly created_at: number
}

export interface CreatedKey extends ListedKey {
  readonly channel_id: string
  /** A secret that is shown once. */
  readonly key: string
}

export interface ListedKeys {
  readonly channel_id: string
  readonly keys: readonly ListedKey[]
}

interface EntityRecord {
  readonly rev: number
  readonly seq: number
  readonly changed_at: number
  readonly attrs: Fields
  /** The other fields, as submitted. */
  readonly [name: string]: Json | undefined
}

export interface ThingRecord extends EntityRecord {
  readonly thing_id: string
  readonly state: ThingState
  readonly observed_at: number
}

export interface EventRecord extends EntityRecord {
  readonly event_id: string
  readonly state: EventState
  readonly event_time: number
}

export interface PageBody {
  readonly limit?: number
  /** next_cursor of the page before. */
  readonly cursor?: string
}

export interface PageOf<Item> {
  readonly items: readonly Item[]
  readonly next_cursor?: string
}

export interface HistoryBody extends PageBody {
  readonly after_seq?: number
  readonly since?: Time
  readonly model?: Model
  readonly entity_id?: string
}

export interface FeedRecord {
  readonly delivery_id: string
  readonly channel_id: string
  readonly seq: number
  readonly op_id: string
  readonly model: Model
  readonly action: Action
  readonly entity_id: string
  readonly state?: string
  readonly rev?: number
  readonly accepted_at: number
  readonly payload: Fields
}

export interface Pulled {
  readonly items: readonly FeedRecord[]
  readonly has_more: boolean
}

export interface Acked {
  readonly requested_count: number
  readonly removed_count: number
}

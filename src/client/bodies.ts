// Types of the bodies and results of calls, with the names of the HTTP interface. They are computed
// from the declarations of the routes, which the gateway checks requests by and makes its OpenAPI
// document of. Times are Unix seconds or milliseconds in requests, milliseconds in answers.

import type { Json } from '#domain/submission'
import type { CREDENTIALS_REQUEST } from '#src/schemas/channel-routes'
import type * as RESOURCES from '#src/schemas/resources'
import type { Sent, ValueOf } from '#src/schemas/schema-types'

type Values<Named> = Named[keyof Named]
type Declared = { [Name in keyof typeof RESOURCES]: Values<(typeof RESOURCES)[Name]> }

/** The routes by their paths; the names of those for GET begin with the method. */
type Routes = {
  readonly [
    One in Values<Declared> as One extends { readonly method: 'GET' }
      ? `GET ${One['path']}`
      : One['path']
  ]: One
}

/** The paths of the routes for POST. */
export type Path = {
  [Name in keyof Routes]: Routes[Name] extends { readonly request: object } ? Name : never
}[keyof Routes]

/** The body of a route. */
export type BodyOf<Name extends Path> = 'key_scope' extends Routes[Name]['codes'][number]
  ? Keyed<Sent<Routes[Name]['request']>>
  : Sent<Routes[Name]['request']>

/** A key in the place of the password names its channel. */
type Keyed<Body> = Body extends { readonly password: string; readonly channel_id: string }
  ? Omit<Body, 'channel_id'> & { readonly channel_id?: string }
  : Body

/** The `data` of the answer of a route; the names of those for GET begin with the method. */
export type DataOf<Name extends keyof Routes> = ValueOf<Routes[Name]['data']>

/** A device, and its PushSubscription or the JSON of one. */
export interface SubscriptionBody {
  readonly device_key: string
  readonly subscription: object
}

/** The proof of a channel's password, for which no key stands. */
export type Proof = Sent<typeof CREDENTIALS_REQUEST>
/** The credentials of a channel: its password or a key, which names the channel itself. */
export type Credentials = Keyed<Proof>

/** The reader of a channel: exactly one of password and device_key. */
export type Reader = Part<BodyOf<'/thing/get'>, ReaderName>
type ReaderName = keyof Credentials | 'device_key'
/** These members of a body, in each of its cases. */
type Part<Body, Names> = Body extends unknown ? Pick<Body, Extract<keyof Body, Names>> : never

export type MessageBody = BodyOf<'/message'>
export type Time = NonNullable<MessageBody['ttl']>
export type Metadata = NonNullable<MessageBody['metadata']>

export type EventCreateBody = BodyOf<'/event/create'>
export type EventUpdateBody = BodyOf<'/event/update'>
export type EventCloseBody = BodyOf<'/event/close'>

export type ThingCreateBody = BodyOf<'/thing/create'>
export type ThingUpdateBody = BodyOf<'/thing/update'>
export type ThingDeleteBody = BodyOf<'/thing/delete'>

export type AcceptedMessage = DataOf<'/message'>
export type AcceptedEvent = DataOf<'/event/create'>
export type AcceptedThing = DataOf<'/thing/create'>
export type OperationRecord = DataOf<'GET /send_status/{op_id}'>

export type RegisterBody = BodyOf<'/device/register'>
/** Its device_key is a secret: the one credential of the device. */
export type Registered = DataOf<'/device/register'>
export type RouteBody = BodyOf<'/channel/device'>
export type Route = DataOf<'/channel/device'>

export type ChannelName = DataOf<'/channel/create'>
export type SubscribeBody = BodyOf<'/channel/subscribe'>
export type Subscribed = DataOf<'/channel/subscribe'>
export type DeviceChannel = BodyOf<'/channel/unsubscribe'>
export type SyncBody = Omit<BodyOf<'/channel/sync'>, 'channels'> & {
  readonly channels: readonly Proof[]
}
export type Synced = DataOf<'/channel/sync'>
export type ChannelFacts = DataOf<'/channel/info'>
/** A listed subscriber; its subscriber_id is no secret and proves nothing. */
export type Subscriber = DataOf<'/channel/subscriber/list'>['subscribers'][number]
/** A submission that was set aside. */
export type DeadLetter = DataOf<'/dead-letter/list'>['items'][number]
/** A mapping: what publishes to topics of a pattern become over MQTT. */
export type Mapping = NonNullable<BodyOf<'/channel/mappings'>['mappings']>[number]
export type ChannelMappings = DataOf<'/channel/mappings'>

/** How attrs of some Things are shown. */
export type PresentedThings = DataOf<'/channel/presentation'>['presentation'][number]

/** A rule as it is put: docs/rules.md has every form. */
export type RuleBody = BodyOf<'/rule/put'>['rule']
export type RuleRecord = DataOf<'/rule/get'>
export type RuleFiring = DataOf<'/rule/test'>['firings'][number]

/** The fields of an entity, also those of a newer gateway. */
type Entity<Known> = Known & { readonly [name: string]: Json | undefined }
export type ThingRecord = Entity<DataOf<'/thing/get'>>
export type EventRecord = Entity<DataOf<'/event/get'>>

export type PageBody = Part<BodyOf<'/thing/list'>, 'limit' | 'cursor'>
export interface PageOf<Item> {
  readonly items: readonly Item[]
  readonly next_cursor?: string
}
type History = BodyOf<'/channel/history'>
export type HistoryBody = Part<History, Exclude<keyof History, ReaderName>>
export type FeedRecord = DataOf<'/channel/history'>['items'][number]

export type Pulled = DataOf<'/messages/pull'>
export type Acked = DataOf<'/messages/ack'>

export type KeyBody = BodyOf<'/channel/key'>
/** Its key is a secret that is shown once. */
export type CreatedKey = DataOf<'/channel/key'>
export type ListedKeys = DataOf<'/channel/key/list'>
/** A listed key; its key_id is no secret and proves nothing. */
export type ListedKey = ListedKeys['keys'][number]
export type KeyScope = ListedKey['scopes'][number]

/** The answer of GET /readyz. */
export interface Readiness {
  readonly status: 'ok' | 'unready'
  /** How safe an accepted submission is, in words. */
  readonly durability: string
  readonly dependencies: readonly {
    readonly name: string
    readonly ready: boolean
    readonly detail?: string
  }[]
}

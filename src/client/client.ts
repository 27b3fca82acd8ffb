// The client of the HTTP interface, with one method for each route. (decisions.md 7 and 8)
//
// Every method gives `data` of a success and throws HeliographError otherwise. After 429, 503 and
// lost connections the client repeats reads, calls that leave the same state when they happen
// twice, and Messages with an op_id. It repeats other calls when the caller sets `repeat: true`,
// and when it could make no connection.

import type * as Wire from './bodies.ts'
import { call } from './call.ts'
import type { Endpoint, Repeats } from './call.ts'
import { WEB } from './runtime.ts'
import type { ClientRuntime, Fetch } from './runtime.ts'

export interface ClientOptions {
  /** The address of the gateway, with or without a slash at the end. */
  readonly baseUrl: string
  /** The gateway token, a secret. */
  readonly token?: string | undefined
  readonly fetch?: Fetch
  /** Milliseconds for one attempt. */
  readonly timeoutMs?: number
  readonly runtime?: ClientRuntime
}

export interface CallOptions {
  readonly signal?: AbortSignal
  /** `true` for a call that may happen twice, `false` for one attempt. */
  readonly repeat?: boolean
}

type Method<Body, Data> = (body: Body, options?: CallOptions) => Promise<Data>

export type Client = ReturnType<typeof createClient>

const TIMEOUT_MS = 30_000

/** A client of one gateway. Makes no call by itself. */
export function createClient(options: ClientOptions) {
  const runtime = options.runtime ?? WEB
  const endpoint: Endpoint = {
    baseUrl: options.baseUrl.replace(/\/+$/, ''),
    token: options.token,
    runtime: options.fetch === undefined ? runtime : { ...runtime, fetch: options.fetch },
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
  }
  const routes = routesOf(endpoint)
  const { get, post } = routes
  return {
    message: {
      send: post<Wire.MessageBody, Wire.AcceptedMessage>('/message', ({ op_id }) => !!op_id),
    },
    event: eventRoutes(routes),
    /** The Events of one Thing: the path carries its id. */
    eventOf: (thingId: string) => eventOfRoutes(routes, thingId),
    thing: thingRoutes(routes),
    device: deviceRoutes(routes),
    channel: channelRoutes(routes),
    key: keyRoutes(routes),
    messages: messagesRoutes(routes),
    /** The record of an operation. */
    status: (opId: string, callOptions?: CallOptions) =>
      get<Wire.OperationRecord>(`/send_status/${encodeURIComponent(opId)}`, callOptions),
    profile: (callOptions?: CallOptions) =>
      get<Readonly<Record<string, unknown>>>('/gateway/profile', callOptions),
  }
}

/** Functions that make a route into a method. */
type Routes = ReturnType<typeof routesOf>

function routesOf(endpoint: Endpoint) {
  const post = poster(endpoint)
  return {
    get: getter(endpoint),
    post,
    /** A route whose calls the client never repeats by itself. */
    once: <Body extends object, Data>(path: string) => post<Body, Data>(path, () => false),
    repeated: <Body extends object, Data>(path: string) => post<Body, Data>(path, () => true),
  }
}

const eventRoutes = ({ once, repeated }: Routes) => ({
  create: once<Wire.EventCreateBody, Wire.AcceptedEvent>('/event/create'),
  update: once<Wire.EventUpdateBody, Wire.AcceptedEvent>('/event/update'),
  close: once<Wire.EventCloseBody, Wire.AcceptedEvent>('/event/close'),
  get: repeated<Wire.Reader & { readonly event_id: string }, Wire.EventRecord>('/event/get'),
  list: repeated<
    Wire.Reader & Wire.PageBody & { readonly state?: string; readonly thing_id?: string },
    Wire.PageOf<Wire.EventRecord>
  >('/event/list'),
})

function eventOfRoutes({ once }: Routes, thingId: string) {
  const path = `/thing/${encodeURIComponent(thingId)}/event`
  return {
    create: once<Wire.EventCreateBody, Wire.AcceptedEvent>(`${path}/create`),
    update: once<Wire.EventUpdateBody, Wire.AcceptedEvent>(`${path}/update`),
    close: once<Wire.EventCloseBody, Wire.AcceptedEvent>(`${path}/close`),
  }
}

const thingRoutes = ({ once, repeated }: Routes) => ({
  create: once<Wire.ThingCreateBody, Wire.AcceptedThing>('/thing/create'),
  update: once<Wire.ThingUpdateBody, Wire.AcceptedThing>('/thing/update'),
  archive: once<Wire.ThingUpdateBody, Wire.AcceptedThing>('/thing/archive'),
  delete: once<Wire.ThingDeleteBody, Wire.AcceptedThing>('/thing/delete'),
  get: repeated<Wire.Reader & { readonly thing_id: string }, Wire.ThingRecord>('/thing/get'),
  list: repeated<
    Wire.Reader & Wire.PageBody & { readonly state?: string },
    Wire.PageOf<Wire.ThingRecord>
  >('/thing/list'),
})

const deviceRoutes = ({ once, repeated }: Routes) => ({
  register: once<Wire.RegisterBody, Wire.Registered>('/device/register'),
  setRoute: repeated<Wire.RouteBody, Wire.Route>('/channel/device'),
  deleteRoute: repeated<Omit<Wire.RouteBody, 'provider_token'>, Wire.Route>(
    '/channel/device/delete',
  ),
  retireToken: repeated<
    { readonly platform: string; readonly provider_token: string },
    { readonly retired: boolean }
  >('/channel/device/provider-token/retire'),
})

const channelRoutes = ({ get, post, once, repeated }: Routes) => ({
  create: once<{ readonly channel_name: string; readonly password: string }, Wire.ChannelName>(
    '/channel/create',
  ),
  // With channel_name a repeat would make another channel.
  subscribe: post<Wire.SubscribeBody, Wire.Subscribed>(
    '/channel/subscribe',
    (body) => 'channel_id' in body,
  ),
  unsubscribe: repeated<
    Wire.DeviceChannel,
    { readonly channel_id: string; readonly removed: boolean }
  >('/channel/unsubscribe'),
  sync: repeated<Wire.SyncBody, Wire.Synced>('/channel/sync'),
  rename: repeated<Wire.Credentials & { readonly channel_name: string }, Wire.ChannelName>(
    '/channel/rename',
  ),
  // A repeat after a lost answer would fail at the new password, or the deleted channel.
  changePassword: once<
    Wire.Credentials & { readonly new_password: string },
    { readonly channel_id: string }
  >('/channel/password'),
  delete: once<Wire.Credentials, { readonly deleted: boolean }>('/channel/delete'),
  info: repeated<Wire.Credentials, Wire.ChannelFacts>('/channel/info'),
  exists: (channelId: string, options?: CallOptions) =>
    get<{ readonly channel_id: string; readonly exists: boolean }>(
      `/channel/exists?channel_id=${encodeURIComponent(channelId)}`,
      options,
    ),
  history: repeated<Wire.Reader & Wire.HistoryBody, Wire.PageOf<Wire.FeedRecord>>(
    '/channel/history',
  ),
})

/** Keys that replace a channel and its password on the compatibility routes. */
const keyRoutes = ({ once, repeated }: Routes) => ({
  create: once<Wire.Credentials & { readonly label?: string }, Wire.CreatedKey>('/channel/key'),
  list: repeated<Wire.Credentials, Wire.ListedKeys>('/channel/key/list'),
  // A repeat after a lost answer would not find the key.
  revoke: once<
    Wire.Credentials & { readonly key_id: string },
    { readonly channel_id: string; readonly revoked: boolean }
  >('/channel/key/revoke'),
})

const messagesRoutes = ({ repeated }: Routes) => ({
  pull: repeated<{ readonly device_key: string; readonly limit?: number }, Wire.Pulled>(
    '/messages/pull',
  ),
  ack: repeated<
    { readonly device_key: string; readonly delivery_ids: readonly string[] },
    Wire.Acked
  >('/messages/ack'),
})

/** The type of the answer comes from the table above; tests of the gateway keep both equal. */
function poster(endpoint: Endpoint) {
  return <Body extends object, Data>(
      path: string,
      isRepeatable: (body: Body) => boolean,
    ): Method<Body, Data> =>
    async (body, { signal, repeat } = {}) => {
      const request = { method: 'POST', path, body, signal } as const
      const repeats = repeatsOf(repeat, isRepeatable(body))
      return (await call(endpoint, { ...request, repeats })) as Data
    }
}

function getter(endpoint: Endpoint) {
  return async <Data>(path: string, { signal, repeat }: CallOptions = {}): Promise<Data> =>
    (await call(endpoint, {
      method: 'GET',
      path,
      signal,
      repeats: repeatsOf(repeat, true),
    })) as Data
}

function repeatsOf(wish: boolean | undefined, isRepeatable: boolean): Repeats {
  if (wish === false) return 'never'
  return wish === true || isRepeatable ? 'always' : 'unsent'
}

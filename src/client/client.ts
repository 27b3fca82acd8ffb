// The client of the HTTP interface, with one method for each route. (decisions.md 7 and 8)
//
// Every method gives `data` of a success and throws HeliographError otherwise. After 429, 503 and
// lost connections the client repeats reads, calls that leave the same state when they happen
// twice, and Messages with an op_id. It repeats other calls when the caller sets `repeat: true`,
// and when it could make no connection.

import type * as Wire from './bodies.ts'
import { call } from './call.ts'
import type { Call, Endpoint, Repeats } from './call.ts'
import type { HeliographError } from './error.ts'
import type { ExportBody, ExportLine } from './export.ts'
import { WEB } from './runtime.ts'
import type { ClientRuntime, Fetch } from './runtime.ts'

export interface ClientOptions {
  /** The address of the gateway, with or without a slash at the end. */
  readonly baseUrl: string
  /** The gateway token, a secret. */
  readonly token?: string | undefined
  /** The languages of sentences in errors, as Accept-Language has them; else the platform's own. */
  readonly language?: string | undefined
  readonly fetch?: Fetch
  /** Milliseconds for one attempt. */
  readonly timeoutMs?: number
  readonly runtime?: ClientRuntime
  /** Is told of each failure behind which the client waits, up to a minute, and tries again. */
  readonly onRepeat?: (error: HeliographError, delayMs: number) => void
}

export interface CallOptions {
  readonly signal?: AbortSignal
  /** `true` for a call that may happen twice, `false` for one attempt. */
  readonly repeat?: boolean
}

export type Client = ReturnType<typeof createClient>

const TIMEOUT_MS = 30_000

/**
 * A client of one gateway. Makes no call by itself. Throws TypeError for a base URL that no call
 * could use; in a browser it may be one of the page's own origin, such as `/push`.
 */
export function createClient(options: ClientOptions) {
  const runtime = options.runtime ?? WEB
  const endpoint: Endpoint = {
    baseUrl: checkedBase(options.baseUrl),
    token: options.token,
    language: options.language,
    runtime: options.fetch === undefined ? runtime : { ...runtime, fetch: options.fetch },
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    onRepeat: options.onRepeat,
  }
  const routes = routesOf(endpoint)
  return {
    message: {
      send: routes.post('/message', ({ op_id }) => !!op_id),
      /** Takes back a Message that waits for its time. */
      cancel: routes.repeated('/message/cancel'),
    },
    event: eventRoutes(routes),
    /** The Events of one Thing: the path carries its id. */
    eventOf: (thingId: string) => eventOfRoutes(routes, thingId),
    thing: thingRoutes(routes),
    device: deviceRoutes(routes),
    channel: {
      ...channelRoutes(routes),
      /** Returns the channel's export, line by line; resumes when the connection breaks. */
      export: async function* (
        body: ExportBody,
        { signal }: Pick<CallOptions, 'signal'> = {},
      ): AsyncGenerator<ExportLine> {
        const { exported } = await import('./export.ts') // Few programs export.
        yield* exported(endpoint, body, signal)
      },
    },
    key: keyRoutes(routes),
    rule: ruleRoutes(routes),
    messages: {
      pull: routes.repeated('/messages/pull'),
      ack: routes.repeated('/messages/ack'),
    },
    delivery: {
      /** The devices that got an entry, and those that did not. */
      receipts: routes.repeated('/delivery/receipts'),
    },
    /** Submissions that were set aside, for who has the gateway token. */
    deadLetters: {
      list: routes.repeated('/dead-letter/list'),
      retry: routes.repeated('/dead-letter/retry'),
    },
    /** The record of an operation. */
    status: (opId: string, callOptions?: CallOptions) =>
      routes.get<Wire.OperationRecord>(`/send_status/${encodeURIComponent(opId)}`, callOptions),
    profile: (callOptions?: CallOptions) =>
      routes.get<Readonly<Record<string, unknown>>>('/gateway/profile', callOptions),
    /** The readiness of the gateway and of what it stands on, also while it is not ready. */
    readiness: (callOptions?: CallOptions) =>
      routes.get<Wire.Readiness>('/readyz', callOptions, 'finding'),
    /** The metrics as Prometheus text. */
    metrics: (callOptions?: CallOptions) => routes.get<string>('/metrics', callOptions, 'text'),
  }
}

/** Without the slash at the end. */
function checkedBase(baseUrl: string): string {
  const { location } = globalThis as { readonly location?: { readonly href: string } }
  const page = location?.href
  // `localhost:8080` is a URL too, with `localhost` as its scheme.
  if (!URL.canParse(baseUrl, page) || !/^https?:$/.test(new URL(baseUrl, page).protocol)) {
    throw new TypeError('the base URL is not a valid URL')
  }
  return baseUrl.replace(/\/+$/, '')
}

/** Functions that make a declared route into a method; `at` is its path where that has places. */
type Routes = ReturnType<typeof routesOf>

function routesOf(endpoint: Endpoint) {
  /** The type of the answer is that of the declared route, which the gateway answers by. */
  const post =
    <Path extends Wire.Path>(
      path: Path,
      isRepeatable: (body: Wire.BodyOf<Path>) => boolean,
      at: string = path,
    ) =>
    async (
      body: Wire.BodyOf<Path>,
      { signal, repeat }: CallOptions = {},
    ): Promise<Wire.DataOf<Path>> => {
      const repeats = repeatsOf(repeat, isRepeatable(body))
      const request = { method: 'POST', path: at, body, signal, repeats } as const
      return (await call(endpoint, request)) as Wire.DataOf<Path>
    }
  const get = async <Data>(
    path: string,
    { signal, repeat }: CallOptions = {},
    answers?: Call['answers'],
  ): Promise<Data> => {
    const request = { method: 'GET', path, signal, repeats: repeatsOf(repeat, true) } as const
    return (await call(endpoint, { ...request, ...(answers && { answers }) })) as Data
  }
  return {
    get,
    post,
    /** A route whose calls the client never repeats by itself. */
    once: <Path extends Wire.Path>(path: Path, at?: string) => post(path, () => false, at),
    repeated: <Path extends Wire.Path>(path: Path) => post(path, () => true),
  }
}

const eventRoutes = ({ once, repeated }: Routes) => ({
  create: once('/event/create'),
  update: once('/event/update'),
  close: once('/event/close'),
  acknowledge: once('/event/acknowledge'),
  get: repeated('/event/get'),
  list: repeated('/event/list'),
})

function eventOfRoutes({ once }: Routes, thingId: string) {
  const path = `/thing/${encodeURIComponent(thingId)}/event`
  return {
    create: once('/event/create', `${path}/create`),
    update: once('/event/update', `${path}/update`),
    close: once('/event/close', `${path}/close`),
  }
}

const thingRoutes = ({ once, repeated }: Routes) => ({
  create: once('/thing/create'),
  update: once('/thing/update'),
  archive: once('/thing/archive'),
  delete: once('/thing/delete'),
  get: repeated('/thing/get'),
  list: repeated('/thing/list'),
  series: repeated('/thing/series'),
  /** Which Things meet a condition, in an order, with counts and groups. */
  query: repeated('/thing/query'),
})

const deviceRoutes = ({ once, repeated }: Routes) => ({
  register: once('/device/register'),
  setRoute: repeated('/channel/device'),
  /**
   * Routes the pushes of a device to a PushSubscription of its browser, or to the JSON of one, as
   * `{ endpoint, keys: { p256dh, auth } }`.
   */
  setSubscription: (
    { device_key, subscription }: Wire.SubscriptionBody,
    options?: CallOptions,
  ): Promise<Wire.DataOf<'/channel/device'>> =>
    repeated('/channel/device')(
      { device_key, channel_type: 'webpush', provider_token: JSON.stringify(subscription) },
      options,
    ),
  deleteRoute: repeated('/channel/device/delete'),
  retireToken: repeated('/channel/device/provider-token/retire'),
})

const channelRoutes = ({ get, post, once, repeated }: Routes) => ({
  create: once('/channel/create'),
  // With channel_name a repeat would make another channel.
  subscribe: post('/channel/subscribe', ({ channel_name }) => channel_name === undefined),
  unsubscribe: repeated('/channel/unsubscribe'),
  /** Replaces the preferences of a subscription: which pushes reach the device, and when. */
  notify: repeated('/channel/notify'),
  sync: repeated('/channel/sync'),
  /** The devices that are subscribed to the channel. */
  subscribers: repeated('/channel/subscriber/list'),
  removeSubscriber: repeated('/channel/subscriber/remove'),
  rename: repeated('/channel/rename'),
  // A repeat after a lost answer would fail at the new password, or the deleted channel.
  changePassword: once('/channel/password'),
  delete: once('/channel/delete'),
  info: repeated('/channel/info'),
  exists: (channelId: string, options?: CallOptions) =>
    get<Wire.DataOf<'GET /channel/exists'>>(
      `/channel/exists?channel_id=${encodeURIComponent(channelId)}`,
      options,
    ),
  history: repeated('/channel/history'),
  /** Returns the refused submissions of the channel of the last hour. */
  refusals: repeated('/channel/refusals'),
  /** Replaces the mappings of the channel when the body has some; gives those in force. */
  mappings: repeated('/channel/mappings'),
  /** Replaces how attrs of Things are shown when the body says so; gives what is in force. */
  presentation: repeated('/channel/presentation'),
  /** Replaces mappings and sets secrets of hooks when the body has some; gives those in force. */
  hooks: repeated('/channel/hooks'),
})

/** Keys, which stand in the place of a channel's password. */
const keyRoutes = ({ once, repeated }: Routes) => ({
  create: once('/channel/key'),
  list: repeated('/channel/key/list'),
  // A repeat after a lost answer would not find the key.
  revoke: once('/channel/key/revoke'),
})

/** Rules, which watch the Things of a channel. */
const ruleRoutes = ({ repeated, once }: Routes) => ({
  // A repeated put leaves the same rule.
  put: repeated('/rule/put'),
  // A repeat after a lost answer would not find the rule.
  delete: once('/rule/delete'),
  get: repeated('/rule/get'),
  list: repeated('/rule/list'),
  test: repeated('/rule/test'),
})

function repeatsOf(wish: boolean | undefined, isRepeatable: boolean): Repeats {
  if (wish === false) return 'never'
  return wish === true || isRepeatable ? 'always' : 'unsent'
}

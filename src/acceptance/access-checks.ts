// The checks before a channel is open, in the one order in which every way in judges what is shown
// to it: a password, a key in its place, a device key, or the grant of an assistant. Each is a
// function from what is known to a fault, or to more that is known. (channel-access.ts)
//
// Invariants:
//   access-checks/1. A text in the form of a key is a key when one is known by it; otherwise it is
//                     a password. A key opens its own channel alone.
//   access-checks/2. Every password, and every key that is refused, counts in the password budget;
//                     a key that opens does not.
//   access-checks/3. A channel is open when a check has said so: without one for its means nothing
//                     is.

import type { ChannelCredentials } from '#domain/channel'
import type { KeyScope, StoredKey } from '#domain/channel-keys'
import { fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import { isKeyForm, parseChannelId } from '#domain/identity'
import type { ChannelId, DeviceKey } from '#domain/identity'
import type { Answer, NowMs } from '#domain/ports'
import type { ChannelStore, SubscriptionStore } from '#domain/store-ports'
import { isRecord } from '#domain/record'
import type { Caller } from './caller.ts'
import type { KeptRefusals } from './channels/kept-refusals.ts'
import type { Credentials } from './credentials.ts'
import type { Intent } from './intent.ts'
import { deviceIdOf } from './devices/device-identity.ts'
import { scopeRefusal, wholeRefusal } from './key-rights.ts'
import type { KeyUses } from './key-uses.ts'
import type { FoundKey, KnownKeys } from './known-keys.ts'
import type { DerivedKeys } from './password-work.ts'

/** The channel that a request names, and the secret that it brings for it. */
export type Named = { readonly channelId: ChannelId } & (
  | { readonly password: string; readonly deviceKey?: undefined }
  | { readonly deviceKey: DeviceKey; readonly password?: undefined }
)

/** A request for a channel, before any check. */
export interface Ask<Request extends Named> {
  /** As they were sent. */
  readonly fields: unknown
  readonly caller: Caller
  /** Checks the form of the fields, once they name the channel of a key. */
  readonly read: (fields: unknown) => Answer<Request> | Promise<Answer<Request>>
  /** All that may open the channel, if it is not everything: its password, as a proof, or a key. */
  readonly by?: 'password' | 'key' | undefined
  /** The right that a key needs; absent for a session, each of whose requests needs its own. */
  readonly scope?: KeyScope
  /** True for what is about a whole channel, and not for a key of some Things. */
  readonly isWhole?: true
  /** True for one of many in a request, whose refused key counts after its form. */
  readonly isPart?: true
  /** The submission, whose refusals the channel keeps. Absent for a read. */
  readonly intent?: Intent
  /** True when further checks follow: they give the refusal of the way in at their end. */
  readonly hasMore?: true
  /** The scrypt keys that the request has computed already. */
  readonly derived?: DerivedKeys
}

/** What opens the channel. */
type Means = 'password' | 'key' | 'refused key' | 'device key' | 'grant'

/** The findings of the checks that have run; each check adds its own. */
export interface Known<Request extends Named> {
  readonly ask: Ask<Request>
  /** Undefined until it is looked at. */
  readonly means: Means | undefined
  readonly fields: unknown
  readonly request: Request | undefined
  readonly key: StoredKey | undefined
  /** Why a key is refused. */
  readonly refusal: Fault | undefined
  readonly credentials: ChannelCredentials | undefined
  readonly deviceLabel: string | undefined
  /** Set by the check that finds that the means opens the channel. (access-checks/3) */
  readonly isOpen: boolean
}

export interface AccessPorts {
  readonly credentials: Credentials
  readonly keys: KnownKeys
  readonly uses: KeyUses
  readonly channels: Pick<ChannelStore, 'credentials'>
  readonly subscriptions: Pick<SubscriptionStore, 'subscribed'>
  readonly refusals: Pick<KeptRefusals, 'note'>
  readonly nowMs: NowMs
}

type More<Request extends Named> = Partial<Omit<Known<Request>, 'ask'>>

/** Returns a fault, or more that is known. Not a promise when memory knows. */
type Check = <Request extends Named>(
  known: Known<Request>,
  ports: AccessPorts,
) => Answer<More<Request>> | Promise<Answer<More<Request>>>

const NOTHING_MORE = {}
const IS_OPEN = { isOpen: true } as const
const BY_PASSWORD = { means: 'password' } as const

export const NOT_FOUND = fault('channel_not_found')
const EXPIRED = fault('key_expired')
const KEYS_ONLY = fault('authentication_failed', { detail: 'only a key opens a session here' })

/**
 * The form of every request has a channel and a password. These stand where a grant needs no
 * password, and where a refused key did not name a channel: no channel has this id, and no password
 * is compared.
 */
const NO_PASSWORD = 'granted without a password'
const NO_CHANNEL = '0'.repeat(26)

/** What stands in the place of the password. */
const identify: Check = ({ fields, ask }, { keys, nowMs }) => {
  if (!isRecord(fields) || ask.by === 'password') return BY_PASSWORD
  if (ask.caller.grant !== undefined) {
    return { means: 'grant', fields: { ...fields, password: NO_PASSWORD } }
  }
  const { password } = fields
  if (typeof password !== 'string' || !isKeyForm(password)) return BY_PASSWORD
  const found = keys.find(password.trim())
  return found instanceof Promise
    ? found.then((key) => keyed(fields, ask.caller, key, nowMs()))
    : keyed(fields, ask.caller, found, nowMs())
}

/** access-checks/1 */
function keyed(
  fields: Readonly<Record<string, unknown>>,
  { attempt }: Caller,
  found: FoundKey,
  nowMs: number,
): Answer<Pick<Known<never>, 'means'> & Partial<Pick<Known<never>, 'fields' | 'key' | 'refusal'>>> {
  if (isFault(found)) return found
  const sent = fields['channel_id']
  const isNamed = typeof sent === 'string' ? sent.trim() !== '' : (sent ?? null) !== null
  if (found === undefined && isNamed) return BY_PASSWORD // It looks like a key.
  const completed = isNamed ? fields : { ...fields, channel_id: found?.channelId ?? NO_CHANNEL }
  const named = typeof sent === 'string' ? parseChannelId(sent) : undefined
  const isOwn = found !== undefined && (!isNamed || named === found.channelId)
  const refusal = isOwn ? expiry(found, nowMs) : NOT_FOUND
  if (refusal !== undefined) return { means: 'refused key', fields: completed, refusal }
  if (attempt !== undefined) attempt.isByKey = true // access-checks/2
  return { means: 'key', fields: completed, key: found }
}

/** A key that opens nothing is a guess, whatever else is wrong. */
const countGuess: Check = ({ ask }) =>
  ask.isPart === true ? NOTHING_MORE : (countKey(ask.caller) ?? NOTHING_MORE)

const readForm: Check = ({ ask, fields }) => {
  const read = ask.read(fields)
  return read instanceof Promise ? read.then(formed) : formed(read)
}

const formed = <Request extends Named>(request: Answer<Request>): Answer<More<Request>> => {
  if (isFault(request)) return request
  return request.deviceKey === undefined
    ? { request }
    : { request, means: 'device key', key: undefined }
}

const refuseKey: Check = ({ ask, refusal = NOT_FOUND }) =>
  ask.isPart === true ? (countKey(ask.caller) ?? refusal) : refusal

const checkKey: Check = ({ ask, key }, { uses }) => {
  if (key === undefined) return NOT_FOUND
  const { scope, isWhole, caller } = ask
  const lacks = scope && scopeRefusal(key, scope)
  if (lacks !== undefined) return countKey(caller) ?? lacks
  if (scope !== undefined) uses.note(key)
  const narrow = isWhole === true ? wholeRefusal(key) : undefined
  return narrow === undefined ? IS_OPEN : (countKey(caller) ?? narrow)
}

/** A grant may be older than the end of its channel. */
const checkGrant: Check = async ({ ask, request }, { channels }) => {
  const channelId = request?.channelId
  if (channelId === undefined || ask.caller.grant?.channels.has(channelId) !== true) {
    return NOT_FOUND
  }
  const stored = await channels.credentials(channelId)
  return stored === undefined ? NOT_FOUND : IS_OPEN
}

/** A device that is not subscribed learns no more than a caller with a wrong password. */
const checkDevice: Check = async ({ ask, request }, { subscriptions }) => {
  if (request?.deviceKey === undefined) return NOT_FOUND
  const deviceId = deviceIdOf(request.deviceKey)
  const device = await subscriptions.subscribed(deviceId, request.channelId)
  const { attempt } = ask.caller
  const limited = device ? attempt?.known() : attempt?.refused('device key') // attempt/2
  return limited ?? (device ? { deviceLabel: device.label, ...IS_OPEN } : NOT_FOUND)
}

const checkPassword: Check = ({ ask, request }, { credentials }) => {
  if (ask.by === 'key') return KEYS_ONLY
  if (request?.password === undefined) return NOT_FOUND
  const { caller, derived } = ask
  const asked = { attempt: caller.attempt, ...(derived && { derived }) } // access-checks/2
  const verdict = credentials.check(request.channelId, request.password, asked)
  return verdict instanceof Promise ? verdict.then(proved) : proved(verdict)
}

const proved = (verdict: Answer<ChannelCredentials>) =>
  isFault(verdict) ? verdict : { credentials: verdict, ...IS_OPEN }

/** The way in is starting, draining or full. (decisions.md 2: 503 comes last) */
const checkWayIn: Check = ({ ask }) =>
  ask.hasMore === true ? NOTHING_MORE : (ask.caller.refusal ?? NOTHING_MORE)

const ANY: readonly Means[] = ['password', 'key', 'refused key', 'device key', 'grant']

/** The checks in their order, each with the means that it is for. The first fault is the answer. */
export const CHECKS: readonly {
  readonly of: readonly (Means | undefined)[]
  readonly check: Check
}[] = [
  { of: [undefined], check: identify },
  { of: ['refused key'], check: countGuess },
  { of: ANY, check: readForm },
  { of: ['refused key'], check: refuseKey },
  { of: ['key'], check: checkKey },
  { of: ['grant'], check: checkGrant },
  { of: ['device key'], check: checkDevice },
  { of: ['password'], check: checkPassword },
  { of: ANY, check: checkWayIn },
]

/** Counts a key that is refused; rate_limited beyond the budget. (access-checks/2) */
export const countKey = ({ attempt }: Caller): Fault | undefined => attempt?.refused('channel key')

/** The refusal of a key from the time on at which it expires. */
export const expiry = ({ expiresAt }: StoredKey, nowMs: number): Fault | undefined =>
  expiresAt > 0 && nowMs >= expiresAt ? EXPIRED : undefined

// Opens a channel for a caller: by its password, by a key in its place, or by a grant.
//
// Invariants:
//   channel-access/1. A text in the form of a key is a key when one is known by it; otherwise it is
//                     a password. A key opens its own channel alone.
//   channel-access/2. Every password, and every key that is refused, counts in the password budget;
//                     a key that opens does not.

import type { ChannelCredentials } from '#domain/channel'
import type { KeyScope, StoredKey } from '#domain/channel-keys'
import { fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import { isKeyForm, parseChannelId } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import type { Answer, NowMs } from '#domain/ports'
import type { ChannelStore } from '#domain/store-ports'
import { isRecord } from '#domain/record'
import { readCredentials } from '#src/schemas/values'
import type { Credentials as ChannelPassword } from '#src/schemas/values'
import { withKey } from './caller.ts'
import type { Caller } from './caller.ts'
import type { Credentials } from './credentials.ts'
import { scopeRefusal, wholeRefusal } from './key-rights.ts'
import type { KeyUses } from './key-uses.ts'
import type { FoundKey, KnownKeys } from './known-keys.ts'
import type { DerivedKeys } from './password-work.ts'

/** A channel that is open for a caller. */
export interface OpenChannel {
  readonly channelId: ChannelId
  /** Absent when no key opened it. */
  readonly key?: StoredKey
}

type Opened = Answer<OpenChannel>
type Reader<Request> = (fields: unknown) => Answer<Request>
/** A request, and the caller with what its password turned out to be. */
type Read<Request, More = unknown> = Answer<
  { readonly request: Request; readonly caller: Caller } & More
>

/** The fields to read and the caller who sent them, once it is known what their password is. */
export interface Presented {
  readonly fields: unknown
  readonly caller: Caller
}

export interface EnterRule {
  /** True where a gateway token is set, for which such a session has no place. */
  readonly keysOnly: boolean
}

export interface AccessPorts {
  readonly credentials: Credentials
  readonly keys: KnownKeys
  readonly uses: KeyUses
  readonly channels: Pick<ChannelStore, 'credentials'>
  readonly nowMs: NowMs
}

const NOT_FOUND = fault('channel_not_found')
const BUSY = fault('server_busy')
const EXPIRED = fault('key_expired')
const KEYS_ONLY = fault('authentication_failed', { detail: 'only a key opens a session here' })

/**
 * Takes the place of the password in a granted caller's fields: the form of every request has one.
 * It opens nothing, since no password is compared for a grant.
 */
const IN_PLACE_OF_A_PASSWORD = 'granted without a password'

/** Takes the place of a channel that a refused key did not name. No channel has this id. */
const NO_CHANNEL = '0'.repeat(26)

export class ChannelAccess {
  readonly #ports: AccessPorts

  constructor(ports: AccessPorts) {
    this.#ports = ports
  }

  /**
   * Finds out what stands in the place of the password, and completes the fields by the channel of
   * a key. Counts a refused key; rate_limited beyond the budget. It is refused by `open`, after the
   * form of the fields. Not a promise when a key is known.
   */
  present(fields: unknown, caller: Caller): Answer<Presented> | Promise<Answer<Presented>> {
    const presented = this.identify(fields, caller)
    return presented instanceof Promise
      ? presented.then((outcome) => this.#counted(outcome))
      : this.#counted(presented)
  }

  /** The same without counting a refused key. */
  identify(fields: unknown, caller: Caller): Answer<Presented> | Promise<Answer<Presented>> {
    if (!isRecord(fields)) return { fields, caller }
    if (caller.grant !== undefined) {
      return { fields: { ...fields, password: IN_PLACE_OF_A_PASSWORD }, caller }
    }
    const { password } = fields
    if (typeof password !== 'string' || !isKeyForm(password)) return { fields, caller }
    const found = this.#ports.keys.find(password.trim())
    return found instanceof Promise
      ? found.then((key) => this.#presented(fields, caller, key))
      : this.#presented(fields, caller, found)
  }

  /** channel-access/1 */
  #presented(
    fields: Readonly<Record<string, unknown>>,
    caller: Caller,
    found: FoundKey,
  ): Answer<Presented> {
    if (isFault(found)) return found
    const sent = fields['channel_id']
    const isNamed = typeof sent === 'string' ? sent.trim() !== '' : (sent ?? null) !== null
    if (found === undefined) {
      if (isNamed) return { fields, caller } // A password may look like a key.
      const completed = { ...fields, channel_id: NO_CHANNEL }
      return { fields: completed, caller: withKey(caller, NOT_FOUND) }
    }
    const named = typeof sent === 'string' ? parseChannelId(sent) : undefined
    const verdict = this.#verdictOn(found, isNamed ? named : found.channelId)
    if (!isFault(verdict)) caller.attempt?.byKey() // channel-access/2
    const completed = isNamed ? fields : { ...fields, channel_id: found.channelId }
    return { fields: completed, caller: withKey(caller, verdict) }
  }

  #verdictOn(key: StoredKey, channelId: ChannelId | undefined): StoredKey | Fault {
    if (channelId !== key.channelId) return NOT_FOUND
    return isExpired(key, this.#ports.nowMs()) ? EXPIRED : key
  }

  #counted(presented: Answer<Presented>): Answer<Presented> {
    if (isFault(presented) || !isFault(presented.caller.key)) return presented
    return presented.caller.attempt?.refused('channel key') ?? presented // channel-access/2
  }

  /** Counts a key that is good and lacks a right: `refusal`, or rate_limited beyond the budget. */
  refuse(caller: Caller, refusal: Fault): Fault {
    return caller.attempt?.refused('channel key') ?? refusal // channel-access/2
  }

  /**
   * Opens the channel when the caller may use it for the scope; channel_not_found, key_expired,
   * key_scope or server_busy otherwise. Not a promise when the password or the key is known, as for
   * nearly every submission. `derived` has the scrypt keys that the request has computed already.
   */
  open(
    { channelId, password }: ChannelPassword,
    caller: Caller,
    scope: KeyScope,
    derived?: DerivedKeys,
  ): Opened | Promise<Opened> {
    const { grant, key } = caller
    if (key !== undefined) return this.#byKey(key, caller, scope)
    if (grant === undefined) {
      const request = { attempt: caller.attempt, ...(derived && { derived }) }
      return this.#ports.credentials.check(channelId, password, request)
    }
    return grant.channels.has(channelId) ? this.#existing(channelId) : NOT_FOUND
  }

  /** Opens a whole channel; key_scope for a key that is for some Things alone. */
  async openWhole(
    credentials: ChannelPassword,
    caller: Caller,
    scope: KeyScope,
    derived?: DerivedKeys,
  ): Promise<Opened> {
    const opened = await this.open(credentials, caller, scope, derived)
    if (isFault(opened) || opened.key === undefined) return opened
    const refusal = wholeRefusal(opened.key)
    return refusal === undefined ? opened : this.refuse(caller, refusal)
  }

  /** Reads a request, once it is known what stands in the place of its password. */
  async read<Request>(
    reader: Reader<Request>,
    sent: unknown,
    from: Caller,
  ): Promise<Read<Request>> {
    const presented = await this.present(sent, from)
    if (isFault(presented)) return presented
    const { fields, caller } = presented
    const request = reader(fields)
    return isFault(request) ? request : { request, caller }
  }

  /** Reads a request about a whole channel, and opens that. */
  async readWhole<Request extends ChannelPassword>(
    reader: Reader<Request>,
    sent: unknown,
    { from, scope }: { readonly from: Caller; readonly scope: KeyScope },
  ): Promise<Read<Request, { readonly key: StoredKey | undefined }>> {
    const read = await this.read(reader, sent, from)
    if (isFault(read)) return read
    const opened = await this.openWhole(read.request, read.caller, scope)
    return isFault(opened) ? opened : { ...read, key: opened.key }
  }

  /** Reads a request whose caller must prove the password, as `prove` does. */
  async readProved<Request extends ChannelPassword>(
    reader: Reader<Request>,
    sent: unknown,
    caller: Caller,
  ): Promise<Answer<Request>> {
    const request = reader(sent)
    if (isFault(request)) return request
    const proved = await this.prove(request, caller)
    return isFault(proved) ? proved : request
  }

  /**
   * Opens the channel of a session, each of whose requests asks for a scope of its own later.
   * authentication_failed for a password where only keys open sessions.
   */
  async enter(sent: unknown, from: Caller, { keysOnly }: EnterRule): Promise<Opened> {
    const presented = await this.present(sent, from)
    if (isFault(presented)) return presented
    const { fields, caller } = presented
    const named = isRecord(fields) ? fields : {}
    const credentials = readCredentials({ channel_id: '', password: '', ...named })
    if (isFault(credentials)) return credentials
    const opened = await this.#entered(credentials, caller, keysOnly)
    return isFault(opened) ? opened : (caller.refusal ?? opened)
  }

  #entered(
    { channelId, password }: ChannelPassword,
    { key, attempt }: Caller,
    keysOnly: boolean,
  ): Opened | Promise<Opened> {
    if (key !== undefined) return isFault(key) ? key : { channelId, key }
    if (keysOnly) return KEYS_ONLY
    return this.#ports.credentials.check(channelId, password, { attempt })
  }

  #byKey(key: StoredKey | Fault, caller: Caller, scope: KeyScope): Opened {
    if (isFault(key)) return key
    const refusal = scopeRefusal(key, scope)
    if (refusal !== undefined) return this.refuse(caller, refusal)
    this.#ports.uses.note(key)
    return { channelId: key.channelId, key }
  }

  /** A grant may be older than the end of its channel. */
  async #existing(channelId: ChannelId): Promise<Opened> {
    return (await this.#ports.channels.credentials(channelId)) ?? NOT_FOUND
  }

  /**
   * The channel that its password opens, unless the caller's requests are refused now. Neither a
   * key nor a grant is such a proof.
   */
  async prove(
    { channelId, password }: ChannelPassword,
    { attempt, refusal }: Caller,
  ): Promise<Answer<ChannelCredentials>> {
    const opened = await this.#ports.credentials.check(channelId, password, { attempt })
    return isFault(opened) ? opened : (refusal ?? opened)
  }

  /**
   * The refusal that comes of what opened a channel before, for callers that go on; undefined while
   * it opens it, and when nobody can tell now. Memory knows mostly, and is compared with the store
   * after a minute.
   */
  async refusalSince(
    { channelId, key }: OpenChannel,
    password: string,
  ): Promise<Fault | undefined> {
    const { keys, credentials, nowMs } = this.#ports
    if (key !== undefined && isExpired(key, nowMs())) return EXPIRED
    const asked = key ? keys.confirmed(key.keyHash) : credentials.check(channelId, password)
    const found = await Promise.resolve(asked).catch(() => BUSY)
    if (found !== undefined && !isFault(found)) return undefined
    return found === undefined || found.code === 'channel_not_found' ? NOT_FOUND : undefined
  }
}

/** True from the time on at which the key expires. */
export const isExpired = ({ expiresAt }: StoredKey, nowMs: number): boolean =>
  expiresAt > 0 && nowMs >= expiresAt

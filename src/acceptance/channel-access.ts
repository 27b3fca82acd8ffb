// Opens a channel for a caller: by its password, by a key in its place, or by a grant. What is
// checked, and in which order, stands in access-checks.ts.

import type { ChannelCredentials } from '#domain/channel'
import type { StoredKey } from '#domain/channel-keys'
import { fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import { parseChannelId } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { isRecord, recordOf } from '#domain/record'
import { readCredentials } from '#src/schemas/values'
import { CHECKS, NOT_FOUND, countKey, expiry } from './access-checks.ts'
import type { AccessPorts, Ask, Known, Named } from './access-checks.ts'
import type { Caller } from './caller.ts'
import { scopeRefusal } from './key-rights.ts'

/** A channel that is open for a caller. */
export interface OpenChannel {
  readonly channelId: ChannelId
  /** Absent when no key opened it. */
  readonly key?: StoredKey | undefined
}

/** What was asked for, once the channel is open. */
export interface Opened<Request> extends OpenChannel {
  readonly request: Request
  /** Absent when no password opened it. */
  readonly credentials: ChannelCredentials | undefined
  /** The name of the device that opened it; absent for one without, and when none did. */
  readonly deviceLabel: string | undefined
}

const BUSY = fault('server_busy')

export class ChannelAccess {
  readonly #ports: AccessPorts
  readonly #checks: typeof CHECKS

  constructor(ports: AccessPorts, checks = CHECKS) {
    this.#ports = ports
    this.#checks = checks
  }

  /**
   * Opens the channel that a request names, when the caller may use it so. Not a promise when the
   * password or the key is known, as for nearly every submission.
   */
  open<Request extends Named>(
    ask: Ask<Request>,
  ): Answer<Opened<Request>> | Promise<Answer<Opened<Request>>> {
    return this.#from(0, {
      ask,
      fields: ask.fields,
      means: undefined,
      request: undefined,
      key: undefined,
      refusal: undefined,
      credentials: undefined,
      deviceLabel: undefined,
      isOpen: false,
    })
  }

  #from<Request extends Named>(
    first: number,
    known: Known<Request>,
  ): Answer<Opened<Request>> | Promise<Answer<Opened<Request>>> {
    for (let at = first; at < this.#checks.length; at += 1) {
      const row = this.#checks[at]
      if (row?.of.includes(known.means) !== true) continue
      const more = row.check(known, this.#ports)
      if (more instanceof Promise) {
        return more.then((later) =>
          isFault(later)
            ? this.#refused(known, later)
            : this.#from(at + 1, Object.assign(known, later)),
        )
      }
      if (isFault(more)) return this.#refused(known, more)
      Object.assign(known, more)
    }
    const { request, key, credentials, deviceLabel, isOpen } = known
    // access-checks/3
    if (request === undefined || !isOpen) throw new Error('no check has opened the channel')
    return { request, channelId: request.channelId, key, credentials, deviceLabel }
  }

  /** Keeps the refusal of a submission for the channel that it names. */
  #refused<Request extends Named>(known: Known<Request>, refusal: Fault): Fault {
    const { intent } = known.ask
    if (intent === undefined) return refusal
    const sent = recordOf(known.fields)?.['channel_id']
    const channelId = typeof sent === 'string' ? parseChannelId(sent) : undefined
    if (channelId !== undefined) this.#ports.refusals.note(channelId, intent, refusal)
    return refusal
  }

  /** Reads a request whose caller must prove the password: neither a key nor a grant is a proof. */
  async prove<Request extends Named>(
    read: (fields: unknown) => Answer<Request>,
    fields: unknown,
    caller: Caller,
  ): Promise<Answer<Request>> {
    const opened = await this.open({ fields, caller, read, by: 'password' })
    return isFault(opened) ? opened : opened.request
  }

  /**
   * Opens a channel for a request that shows a setting of it, or changes it: a key that changes it
   * may send and read.
   */
  async openSetting<Request extends Named>(
    ask: Pick<Ask<Request>, 'fields' | 'caller' | 'read'>,
    isChange: (request: Request) => boolean,
  ): Promise<Answer<Request>> {
    const opened = await this.open({ ...ask, scope: 'read', isWhole: true, hasMore: true })
    if (isFault(opened)) return opened
    const { request, key } = opened
    const lacks = isChange(request) ? key && scopeRefusal(key, 'send') : undefined
    if (lacks !== undefined) return this.refuse(ask.caller, lacks)
    return ask.caller.refusal ?? request
  }

  /**
   * Opens the channel of a session. authentication_failed for a password where only keys open
   * sessions.
   */
  async enter(
    fields: { readonly channel_id?: string; readonly password?: string | undefined },
    caller: Caller,
    { keysOnly }: { readonly keysOnly: boolean },
  ): Promise<Answer<OpenChannel>> {
    const read = (sent: unknown) => readCredentials(isRecord(sent) ? sent : {})
    const opened = await this.open({ fields, caller, read, by: keysOnly ? 'key' : undefined })
    if (isFault(opened)) return opened
    const { channelId, key } = opened // Nothing else of the request stays with the session.
    return { channelId, ...(key && { key }) }
  }

  /** Counts a key that is good and lacks a right: `refusal`, or rate_limited beyond the budget. */
  refuse(caller: Caller, refusal: Fault): Fault {
    return countKey(caller) ?? refusal
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
    const expired = key && expiry(key, nowMs())
    if (expired !== undefined) return expired
    const asked = key ? keys.confirmed(key.keyHash) : credentials.check(channelId, password)
    const found = await Promise.resolve(asked).catch(() => BUSY)
    if (found !== undefined && !isFault(found)) return undefined
    return found === undefined || found.code === 'channel_not_found' ? NOT_FOUND : undefined
  }
}

// The administration of channels: makes, renames, deletes and describes them, and changes
// passwords. (decisions.md 7)
//
// Invariants:
//   channels/1. Once a change of password or a deletion is answered, this process refuses the old
//               password, and a notice to every other process is on its way.
//   channels/2. Changing a password needs proof of the old one, and so do renaming and deleting:
//               neither a key nor a grant is proof.
//   channels/3. A change with an unknown outcome may have been made: every process forgets its kept
//               answers about the channel.

import type { Existence, NamedChannel } from '#domain/administration'
import type { KeptChannel, Retention } from '#domain/channel'
import type { StoredKey } from '#domain/channel-keys'
import { fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import { channelIdFromBytes } from '#domain/identity'
import type { Answer, Bus } from '#domain/ports'
import type { ChannelStore } from '#domain/store-ports'
import { COMMON_PASSWORD_RULE, isCommonPassword } from '#src/passwords/common-passwords'
import {
  readChannelCredentials,
  readCreate,
  readExists,
  readPasswordChange,
  readRename,
} from '#src/schemas/channel-requests'
import type { PasswordChange } from '#src/schemas/channel-requests'
import type { Audit } from '#src/acceptance/audit'
import type { Caller } from '#src/acceptance/caller'
import type { ChannelAccess } from '#src/acceptance/channel-access'
import type { Credentials } from '#src/acceptance/credentials'
import type { PasswordWork } from '#src/acceptance/password-work'

export interface ChannelPorts {
  readonly channels: ChannelStore
  readonly credentials: Credentials
  readonly access: ChannelAccess
  readonly work: PasswordWork
  readonly bus: Pick<Bus, 'notify'>
  readonly audit: Audit
  readonly newHex32: () => string
  readonly refusesCommon: boolean
  readonly retention: Retention
}

/** A channel that is open, with the key that opened it, if one did. */
export interface OpenedChannel {
  readonly info: KeptChannel
  readonly key: StoredKey | undefined
}

const NOT_FOUND = fault('channel_not_found')

export class Channels {
  readonly #ports: ChannelPorts

  constructor(ports: ChannelPorts) {
    this.#ports = ports
  }

  async create(fields: unknown, caller: Caller): Promise<Answer<NamedChannel>> {
    const wish = readCreate(fields)
    if (isFault(wish)) return wish
    const limited = caller.attempt?.end()
    if (limited !== undefined) return limited
    const channelId = await makeChannel(this.#ports, wish, caller)
    return isFault(channelId) ? channelId : { channelId, channelName: wish.channelName }
  }

  async rename(fields: unknown, caller: Caller): Promise<Answer<NamedChannel>> {
    // channels/2
    const request = await this.#ports.access.readProved(readRename, fields, caller)
    if (isFault(request)) return request
    const { channelId, channelName } = request
    const isRenamed = await this.#ports.channels.rename(channelId, channelName)
    return isRenamed ? { channelId, channelName } : NOT_FOUND
  }

  /** Changes the password; gives the channel. */
  async changePassword(fields: unknown, caller: Caller): Promise<Answer<ChannelId>> {
    // channels/2: a stranger causes no hashing.
    const request = await this.#ports.access.readProved(readPasswordChange, fields, caller)
    if (isFault(request)) return request
    const { channelId } = request
    const { refusesCommon } = this.#ports
    const common = refusesCommon && (await commonRefusal('new_password', request.newPassword))
    if (isFault(common)) return common
    const passwordHash = await this.#ports.work.hash(request.newPassword)
    if (isFault(passwordHash)) return passwordHash
    const changed = await this.#replaceHash(request, passwordHash)
    if (isFault(changed)) return changed
    this.#ports.credentials.forget(channelId) // channels/1
    this.#ports.bus.notify({ kind: 'credentials-changed', channelId })
    this.#ports.audit.changed('a channel password was changed', caller.origin, { channelId })
    return channelId
  }

  /** Deletes a channel; gives its id. */
  async delete(fields: unknown, caller: Caller): Promise<Answer<ChannelId>> {
    // channels/2
    const request = await this.#ports.access.readProved(readChannelCredentials, fields, caller)
    if (isFault(request)) return request
    const { channelId } = request
    const { channels, credentials, bus, audit } = this.#ports
    const isDeleted = await this.#orForget(
      channelId,
      channels.delete(channelId, caller.receivedAtMs),
    )
    credentials.forget(channelId) // channels/1
    if (!isDeleted) return NOT_FOUND
    bus.notify({ kind: 'channel-deleted', channelId })
    audit.changed('a channel was deleted', caller.origin, { channelId })
    return channelId
  }

  async info(fields: unknown, caller: Caller): Promise<Answer<KeptChannel>> {
    const opened = await this.open(fields, caller)
    return isFault(opened) ? opened : opened.info
  }

  /** Opens a whole channel for a reader. */
  async open(fields: unknown, from: Caller): Promise<Answer<OpenedChannel>> {
    const { access, channels, retention } = this.#ports
    const read = await access.readWhole(readChannelCredentials, fields, { from, scope: 'read' })
    if (isFault(read)) return read
    const { request, caller, key } = read
    if (caller.refusal !== undefined) return caller.refusal
    const info = await channels.info(request.channelId)
    return info === undefined ? NOT_FOUND : { info: { ...info, retention }, key }
  }

  /** True when a channel exists. Gives nothing else: names are not for strangers. */
  async exists(channelIdText: string | undefined, caller: Caller): Promise<Answer<Existence>> {
    const request = readExists(channelIdText)
    if (isFault(request)) return request
    if (caller.refusal !== undefined) return caller.refusal
    const { channelId } = request
    return { channelId, exists: await this.#ports.channels.exists(channelId) }
  }

  /** Tries twice: the known password may be older than another node's change. */
  async #replaceHash(
    { channelId, password, keepsKeys }: PasswordChange,
    passwordHash: string,
  ): Promise<Answer<true>> {
    const { channels, credentials } = this.#ports
    const kept = keepsKeys ? 'keys' : 'nothing'
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const opened = await credentials.check(channelId, password)
      if (isFault(opened)) return opened
      // channels/2
      const change = { previousHash: opened.passwordHash, passwordHash, kept } as const
      const changing = channels.changePassword(channelId, change)
      if (await this.#orForget(channelId, changing)) return true
      credentials.forget(channelId)
    }
    return NOT_FOUND
  }

  /** The outcome of a change; without one, the store is asked about the channel. (channels/3) */
  async #orForget(channelId: ChannelId, changing: Promise<boolean>): Promise<boolean> {
    const { credentials, bus } = this.#ports
    try {
      return await changing
    } catch (error) {
      credentials.forget(channelId)
      bus.notify({ kind: 'credentials-changed', channelId })
      throw error
    }
  }
}

interface CreationPorts {
  readonly channels: Pick<ChannelStore, 'create'>
  readonly work: PasswordWork
  readonly newHex32: () => string
  /** True where the most common passwords are refused. */
  readonly refusesCommon: boolean
}

interface ChannelWish {
  readonly channelName: string
  readonly password: string
}

/**
 * Makes a channel with a random id; server_busy or rate_limited when the password cannot be hashed
 * now.
 */
export async function makeChannel(
  { channels, work, newHex32, refusesCommon }: CreationPorts,
  { channelName, password }: ChannelWish,
  { refusal, receivedAtMs, attempt }: Caller,
): Promise<Answer<ChannelId>> {
  const common = refusesCommon ? await commonRefusal('password', password) : undefined
  if (common !== undefined) return common
  if (refusal !== undefined) return refusal
  const trial = attempt?.begin(false) // attempt/1: nobody knows a new password
  if (isFault(trial)) return trial
  const passwordHash = await work.hash(password)
  if (isFault(passwordHash)) return passwordHash
  const channelId = channelIdFromBytes(Buffer.from(newHex32(), 'hex'))
  await channels.create({ channelId, channelName, passwordHash, createdAt: receivedAtMs })
  return channelId
}

/** The refusal of a new password that strangers try first. */
async function commonRefusal(field: string, password: string): Promise<Fault | undefined> {
  if (!(await isCommonPassword(password))) return undefined
  return fault('invalid_password', { field, detail: `${field} ${COMMON_PASSWORD_RULE}` })
}

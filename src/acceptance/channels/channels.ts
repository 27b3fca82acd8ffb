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
import type { KeptChannel } from '#domain/channel'
import type { StoredKey } from '#domain/channel-keys'
import { fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import { channelIdFromBytes } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { COMMON_PASSWORD_RULE, isCommonPassword } from '#src/passwords/common-passwords'
import { CHANNEL } from '#src/schemas/channel-routes'
import { readersOf } from '#src/schemas/shape'
import type { RequestOf } from '#src/schemas/shape'
import { deviceIdOf } from '#src/acceptance/devices/device-identity'
import type { Caller } from '#src/acceptance/caller'
import type { Stage } from '#src/acceptance/stage'

/** A channel that is open, with the key that opened it, if one did. */
export interface OpenedChannel {
  readonly info: KeptChannel
  readonly key: StoredKey | undefined
}

const READ = readersOf(CHANNEL)

type PasswordChange = RequestOf<typeof READ.changePassword>

const NOT_FOUND = fault('channel_not_found')

export class Channels {
  readonly #ports: Stage

  constructor(ports: Stage) {
    this.#ports = ports
  }

  async create(fields: unknown, caller: Caller): Promise<Answer<NamedChannel>> {
    const wish = READ.create(fields)
    if (isFault(wish)) return wish
    const limited = caller.attempt?.end()
    if (limited !== undefined) return limited
    const channelId = await makeChannel(this.#ports, wish, caller)
    return isFault(channelId) ? channelId : { channelId, channelName: wish.channelName }
  }

  async rename(fields: unknown, caller: Caller): Promise<Answer<NamedChannel>> {
    // channels/2
    const request = await this.#ports.access.prove(READ.rename, fields, caller)
    if (isFault(request)) return request
    const { channelId, channelName } = request
    const { channels, bus } = this.#ports
    if (!(await channels.rename(channelId, channelName))) return NOT_FOUND
    bus.notify({ kind: 'channel-renamed', channelId, channelName })
    return { channelId, channelName }
  }

  /** Changes the password; gives the channel. */
  async changePassword(fields: unknown, caller: Caller): Promise<Answer<ChannelId>> {
    // channels/2: a stranger causes no hashing.
    const request = await this.#ports.access.prove(READ.changePassword, fields, caller)
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
    const request = await this.#ports.access.prove(READ.delete, fields, caller)
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
  async open(fields: unknown, caller: Caller): Promise<Answer<OpenedChannel>> {
    const { access, channels, subscriptions, retention } = this.#ports
    const opened = await access.open({
      fields,
      caller,
      read: (sent) => {
        const request = READ.info(sent)
        return isFault(request) ? request : request.reader
      },
      scope: 'read',
      isWhole: true,
    })
    if (isFault(opened)) return opened
    const { channelId, key, request } = opened
    const info = await channels.info(channelId)
    if (info === undefined) return NOT_FOUND
    const notify =
      request.kind === 'device'
        ? await subscriptions.preferences(deviceIdOf(request.deviceKey), channelId)
        : undefined
    return { info: { ...info, retention, ...(notify && { notify }) }, key }
  }

  /** True when a channel exists. Gives nothing else: names are not for strangers. */
  async exists(fields: unknown, caller: Caller): Promise<Answer<Existence>> {
    const request = READ.exists(fields)
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

interface ChannelWish {
  readonly channelName: string
  readonly password: string
}

/**
 * Makes a channel with a random id for a request that has its share of the budget; server_busy when
 * the password cannot be hashed now. (attempt/1)
 */
export async function makeChannel(
  { channels, work, newHex32, refusesCommon }: Stage,
  { channelName, password }: ChannelWish,
  { refusal, receivedAtMs }: Caller,
): Promise<Answer<ChannelId>> {
  const common = refusesCommon ? await commonRefusal('password', password) : undefined
  if (common !== undefined) return common
  if (refusal !== undefined) return refusal
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

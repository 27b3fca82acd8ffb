// POST /channel/rename, /channel/password, /channel/delete, /channel/info and GET /channel/exists.
// (decisions.md 7)
//
// Invariants:
//   N1. Once a change of password or a deletion is answered, this process takes the old password no
//       more, and every other one is told.
//   N2. A password changes only from the one that the caller proved to know.
//   N3. A change whose outcome is not known may have been made: no process goes on with what it
//       knew before.

import { fault, isFault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { Answer, Bus } from '#domain/ports'
import type { ChannelStore } from '#domain/store-ports'
import { channelInfoToWire } from '#src/schemas/answers'
import {
  readChannelCredentials,
  readExists,
  readPasswordChange,
  readRename,
} from '#src/schemas/channel-requests'
import type { PasswordChange } from '#src/schemas/channel-requests'
import type { Credentials } from './credentials.ts'
import type { PasswordWork } from './password-work.ts'
import type { Handler } from './request.ts'

export interface SettingsPorts {
  readonly channels: ChannelStore
  readonly credentials: Credentials
  readonly work: PasswordWork
  readonly bus: Pick<Bus, 'notify'>
}

const NOT_FOUND = fault('channel_not_found')

export function renameChannel({ channels, credentials }: SettingsPorts): Handler {
  return async ({ body }) => {
    const read = readRename(body)
    if (isFault(read)) return read
    const { channelId, password, channelName } = read
    const opened = await credentials.check(channelId, password)
    if (isFault(opened)) return opened
    if (!(await channels.rename(channelId, channelName))) return NOT_FOUND
    return { channel_id: channelId, channel_name: channelName }
  }
}

export function changePassword(ports: SettingsPorts): Handler {
  return async ({ body }) => {
    const read = readPasswordChange(body)
    if (isFault(read)) return read
    const { channelId } = read
    const passwordHash = await openAndHash(ports, read)
    if (isFault(passwordHash)) return passwordHash
    const changed = await replaceHash(ports, read, passwordHash)
    if (isFault(changed)) return changed
    ports.credentials.forget(channelId) // N1
    ports.bus.notify({ kind: 'credentials-changed', channelId })
    return { channel_id: channelId }
  }
}

/** The hash of the new password; a stranger causes no work for it. */
async function openAndHash(
  { credentials, work }: SettingsPorts,
  { channelId, password, newPassword }: PasswordChange,
): Promise<Answer<string>> {
  const opened = await credentials.check(channelId, password)
  return isFault(opened) ? opened : work.hash(newPassword)
}

/**
 * Tries twice: the first time what is known of the channel may be older than another node's change.
 */
async function replaceHash(
  ports: SettingsPorts,
  { channelId, password }: PasswordChange,
  passwordHash: string,
): Promise<Answer<true>> {
  const { channels, credentials } = ports
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const opened = await credentials.check(channelId, password)
    if (isFault(opened)) return opened
    // N2
    const changing = channels.changePassword(channelId, opened.passwordHash, passwordHash)
    if (await orForget(ports, channelId, changing)) return true
    credentials.forget(channelId)
  }
  return NOT_FOUND
}

/** The outcome of a change; behind one without, the store is asked about the channel anew. (N3) */
async function orForget(
  { credentials, bus }: SettingsPorts,
  channelId: ChannelId,
  changing: Promise<boolean>,
): Promise<boolean> {
  try {
    return await changing
  } catch (error) {
    credentials.forget(channelId)
    bus.notify({ kind: 'credentials-changed', channelId })
    throw error
  }
}

export function deleteChannel(ports: SettingsPorts): Handler {
  const { channels, credentials, bus } = ports
  return async ({ body, receivedAtMs }) => {
    const read = readChannelCredentials(body)
    if (isFault(read)) return read
    const { channelId, password } = read
    const opened = await credentials.check(channelId, password)
    if (isFault(opened)) return opened
    const deleted = await orForget(ports, channelId, channels.delete(channelId, receivedAtMs))
    credentials.forget(channelId) // N1
    if (!deleted) return NOT_FOUND
    bus.notify({ kind: 'channel-deleted', channelId })
    return { deleted: true }
  }
}

export function channelInfo({ channels, credentials }: SettingsPorts): Handler {
  return async ({ body }) => {
    const read = readChannelCredentials(body)
    if (isFault(read)) return read
    const opened = await credentials.check(read.channelId, read.password)
    if (isFault(opened)) return opened
    const info = await channels.info(read.channelId)
    return info === undefined ? NOT_FOUND : channelInfoToWire(info)
  }
}

/** Says nothing but whether it exists: names are not for strangers. */
export function channelExists({ channels }: SettingsPorts): Handler {
  return async ({ query }) => {
    const read = readExists(query.get('channel_id') ?? undefined)
    if (isFault(read)) return read
    return { channel_id: read.channelId, exists: await channels.exists(read.channelId) }
  }
}

// Makes channels: by request, and for a subscription by name. (decisions.md 7)

import { fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import { channelIdFromBytes } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { ChannelStore } from '#domain/store-ports'
import { COMMON_PASSWORD_RULE, isCommonPassword } from '#src/passwords/common-passwords'
import type { Caller } from '#src/acceptance/caller'
import type { PasswordWork } from '#src/acceptance/password-work'

export interface CreationPorts {
  readonly channels: Pick<ChannelStore, 'create'>
  readonly work: PasswordWork
  readonly newHex32: () => string
  /** True where the most common passwords are refused. */
  readonly refusesCommon: boolean
}

export interface ChannelWish {
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
export async function commonRefusal(field: string, password: string): Promise<Fault | undefined> {
  if (!(await isCommonPassword(password))) return undefined
  return fault('invalid_password', { field, detail: `${field} ${COMMON_PASSWORD_RULE}` })
}

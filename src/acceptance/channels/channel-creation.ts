// Makes channels: by request, and for a subscription by name. (decisions.md 7)

import { isFault } from '#domain/fault'
import { channelIdFromBytes } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { ChannelStore } from '#domain/store-ports'
import type { Caller } from '#src/acceptance/caller'
import type { PasswordWork } from '#src/acceptance/password-work'

export interface CreationPorts {
  readonly channels: Pick<ChannelStore, 'create'>
  readonly work: PasswordWork
  readonly newHex32: () => string
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
  { channels, work, newHex32 }: CreationPorts,
  { channelName, password }: ChannelWish,
  { refusal, receivedAtMs, attempt }: Caller,
): Promise<Answer<ChannelId>> {
  if (refusal !== undefined) return refusal
  const trial = attempt?.begin(false) // attempt/1: nobody knows a new password
  if (isFault(trial)) return trial
  const passwordHash = await work.hash(password)
  if (isFault(passwordHash)) return passwordHash
  const channelId = channelIdFromBytes(Buffer.from(newHex32(), 'hex'))
  await channels.create({ channelId, channelName, passwordHash, createdAt: receivedAtMs })
  return channelId
}

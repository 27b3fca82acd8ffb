// POST /channel/create, and the channel that a subscription by name makes. (decisions.md 7)

import { isFault } from '#domain/fault'
import { channelIdFromBytes } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { ChannelStore } from '#domain/store-ports'
import { readCreate } from '#src/schemas/channel-requests'
import type { PasswordWork } from './password-work.ts'
import type { Handler } from './request.ts'

export interface CreatePorts {
  readonly channels: Pick<ChannelStore, 'create'>
  readonly work: PasswordWork
  readonly newHex32: () => string
}

export interface ChannelWish {
  readonly channelName: string
  readonly password: string
  readonly createdAt: number
}

export function createChannel(ports: CreatePorts): Handler {
  return async ({ body, receivedAtMs }) => {
    const read = readCreate(body)
    if (isFault(read)) return read
    const channelId = await makeChannel(ports, { ...read, createdAt: receivedAtMs })
    if (isFault(channelId)) return channelId
    return { channel_id: channelId, channel_name: read.channelName }
  }
}

/** Makes a channel with a random id; server_busy when the password cannot be hashed now. */
export async function makeChannel(
  { channels, work, newHex32 }: CreatePorts,
  { channelName, password, createdAt }: ChannelWish,
): Promise<Answer<ChannelId>> {
  const passwordHash = await work.hash(password)
  if (isFault(passwordHash)) return passwordHash
  const channelId = channelIdFromBytes(Buffer.from(newHex32(), 'hex'))
  await channels.create({ channelId, channelName, passwordHash, createdAt })
  return channelId
}

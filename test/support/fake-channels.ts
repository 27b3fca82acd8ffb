// Channels and their keys, in memory.

import type { ChannelCredentials, ChannelInfo, NewChannel } from '#domain/channel'
import { CHANNEL_KEYS_MAX } from '#domain/channel-keys'
import type { ChannelKey, ChannelKeyStore, NewChannelKey } from '#domain/channel-keys'
import type { ChannelId } from '#domain/identity'
import type { ChannelStore } from '#domain/store-ports'

export class FakeChannels implements ChannelStore {
  readonly rows = new Map<ChannelId, NewChannel>()
  salt: string | undefined
  /** The number of reads of credentials. */
  reads = 0
  /** Called before credentials are given, for events that a test wants to happen meanwhile. */
  meanwhile: () => void | Promise<void> = () => {}

  async credentials(channelId: ChannelId): Promise<ChannelCredentials | undefined> {
    this.reads += 1
    const row = this.rows.get(channelId)
    await this.meanwhile()
    return row
  }

  async create(channel: NewChannel): Promise<void> {
    this.rows.set(channel.channelId, channel)
  }

  async rename(channelId: ChannelId, channelName: string): Promise<boolean> {
    return this.#change(channelId, { channelName })
  }

  async changePassword(
    channelId: ChannelId,
    previousHash: string,
    passwordHash: string,
  ): Promise<boolean> {
    if (this.rows.get(channelId)?.passwordHash !== previousHash) return false
    return this.#change(channelId, { passwordHash })
  }

  async passwordSalt(first: string): Promise<string> {
    this.salt ??= first
    return this.salt
  }

  async delete(channelId: ChannelId): Promise<boolean> {
    return this.rows.delete(channelId)
  }

  async info(channelId: ChannelId): Promise<ChannelInfo | undefined> {
    const row = this.rows.get(channelId)
    if (row === undefined) return undefined
    const { channelName, createdAt } = row
    const counts = { subscribers: 1, headSeq: 7, things: 2, openEvents: 3 }
    return { channelId, channelName, createdAt, ...counts }
  }

  async exists(channelId: ChannelId): Promise<boolean> {
    return this.rows.has(channelId)
  }

  #change(channelId: ChannelId, change: Partial<NewChannel>): boolean {
    const row = this.rows.get(channelId)
    if (row !== undefined) this.rows.set(channelId, { ...row, ...change })
    return row !== undefined
  }
}

export class FakeChannelKeys implements ChannelKeyStore {
  readonly rows: NewChannelKey[] = []
  readonly #channels: FakeChannels

  constructor(channels: FakeChannels) {
    this.#channels = channels
  }

  async create(key: NewChannelKey): Promise<'created' | 'full' | 'no-channel'> {
    if (!this.#isGood(key)) return 'no-channel'
    if ((await this.list(key.channelId)).length === CHANNEL_KEYS_MAX) return 'full'
    this.rows.push(key)
    return 'created'
  }

  async find(keyHash: string): Promise<ChannelId | undefined> {
    return this.rows.find((key) => key.keyHash === keyHash && this.#isGood(key))?.channelId
  }

  async list(channelId: ChannelId): Promise<readonly ChannelKey[]> {
    return this.rows
      .filter((key) => key.channelId === channelId && this.#isGood(key))
      .map(({ keyId, label, createdAt }) => ({ keyId, label, createdAt }))
  }

  async revoke(channelId: ChannelId, keyId: string): Promise<boolean> {
    const at = this.rows.findIndex((key) => key.channelId === channelId && key.keyId === keyId)
    if (at !== -1) this.rows.splice(at, 1)
    return at !== -1
  }

  #isGood({ channelId, passwordHash }: NewChannelKey): boolean {
    return this.#channels.rows.get(channelId)?.passwordHash === passwordHash
  }
}

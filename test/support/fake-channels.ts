// Channels and their keys, in memory.

import type { ChannelCredentials, ChannelInfo, NewChannel, PasswordChange } from '#domain/channel'
import { CHANNEL_KEYS_MAX } from '#domain/channel-keys'
import type { ChannelKeyStore, ListedKey, NewChannelKey, StoredKey } from '#domain/channel-keys'
import type { ChannelId } from '#domain/identity'
import type { ChannelStore, Page } from '#domain/store-ports'

export class FakeChannels implements ChannelStore {
  readonly rows = new Map<ChannelId, NewChannel>()
  readonly #kept = new Map<ChannelId, readonly (string | undefined)[]>()
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
    { previousHash, passwordHash, kept }: PasswordChange,
  ): Promise<boolean> {
    if (this.rows.get(channelId)?.passwordHash !== previousHash) return false
    const before = kept === 'nothing' ? [] : this.passwordsOf(channelId)
    this.#kept.set(channelId, before)
    return this.#change(channelId, { passwordHash })
  }

  /** The hash in force, and earlier ones whose keys were kept. */
  passwordsOf(channelId: ChannelId): readonly (string | undefined)[] {
    return [this.rows.get(channelId)?.passwordHash, ...(this.#kept.get(channelId) ?? [])]
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
  readonly rows: (NewChannelKey & { lastUsedOn?: number })[] = []
  /** The hashes of each read. */
  readonly reads: (readonly string[])[] = []
  /** Called before keys are given, for events that a test wants to happen meanwhile. */
  meanwhile: () => void | Promise<void> = () => {}
  readonly #channels: FakeChannels

  constructor(channels: FakeChannels) {
    this.#channels = channels
  }

  async create(key: NewChannelKey): Promise<'created' | 'full' | 'no-channel'> {
    if (!this.#isGood(key)) return 'no-channel'
    if (this.rows.filter((row) => this.#isGood(row)).length === CHANNEL_KEYS_MAX) return 'full'
    this.rows.push(key)
    return 'created'
  }

  async find(keyHashes: readonly string[]): Promise<readonly StoredKey[]> {
    this.reads.push(keyHashes)
    const found = this.rows.filter((key) => keyHashes.includes(key.keyHash) && this.#isGood(key))
    await this.meanwhile()
    return found.map((key) => ({ lastUsedOn: 0, ...key }))
  }

  async list(channelId: ChannelId, after: number, limit: number): Promise<Page<ListedKey>> {
    const all = this.rows.filter((key) => key.channelId === channelId && this.#isGood(key))
    const items = all
      .slice(after, after + limit)
      .map(({ channelId: _id, passwordHash: _password, keyHash: _hash, ...key }) => ({
        lastUsedOn: 0,
        ...key,
      }))
    return all.length > after + limit ? { items, next: after + limit } : { items }
  }

  async revoke(channelId: ChannelId, keyId: string): Promise<boolean> {
    const at = this.rows.findIndex((key) => key.channelId === channelId && key.keyId === keyId)
    if (at !== -1) this.rows.splice(at, 1)
    return at !== -1
  }

  async used(keyHashes: readonly string[], day: number): Promise<void> {
    for (const row of this.rows) if (keyHashes.includes(row.keyHash)) row.lastUsedOn = day
  }

  #isGood({ channelId, passwordHash }: NewChannelKey): boolean {
    return this.#channels.passwordsOf(channelId).includes(passwordHash)
  }
}

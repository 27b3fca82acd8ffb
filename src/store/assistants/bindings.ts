// The channels that people bound to the grants of assistants.
//
// Invariants:
//   bindings/1. A binding is good only while the channel is there with the password that it was
//     made with: a change of that password makes it void.
//   bindings/2. A grant never has more than BINDINGS_MAX good bindings; void ones make room.
//   bindings/3. A bind session is used once, by a channel that is bound in the same transaction.
//   bindings/4. A client that a person lets in again for a channel, in the same browser, has one
//     grant: the new one has the channels of the earlier ones, which end.
//   bindings/5. Ending a client's use of a channel ends it for all grants of that client.

import { BINDINGS_MAX } from '#domain/assistants'
import type { Binding } from '#domain/assistants'
import type {
  BindingStore,
  BoundAssistant,
  GrantHolder,
  KeptBinding,
  NewBindSession,
  NewBinding,
  OpenBindSession,
} from '#domain/authorization-store'
import type { ChannelId } from '#domain/identity'
import { lockedChannel } from '#src/store/administration/locked'
import { Bulk } from '#src/store/statements/bulk'
import type { Database } from '#src/store/jobs/database'
import type { BindSessionRow, BindingRow } from '#src/store/entities/authorization'
import type { Tables } from '#src/store/entities/tables'
import { GOOD, endUse, replaceEarlier } from './replaced-grants.ts'
import type { Executor } from '#src/store/jobs/executor'

type SessionRow = Omit<BindSessionRow, 'bindSession' | 'secretHash'>

const SESSION = `SELECT grant_id AS grantId, client, browser, client_name AS clientName, channel,
  expires_at AS expiresAt FROM bind_sessions WHERE secret_hash = ?`

type Bound = 'bound' | 'full' | 'no-channel'

export class Bindings implements BindingStore {
  readonly #database: Database
  readonly #bindings: Bulk<BindingRow>
  readonly #sessions: Bulk<BindSessionRow>

  constructor(database: Database, tables: Tables) {
    this.#database = database
    this.#bindings = Bulk.of(tables.bindings)
    this.#sessions = Bulk.of(tables.bindSessions)
  }

  bind(binding: NewBinding): Promise<Bound> {
    return this.#database.durable(async (executor) => {
      const channel = await this.#bind(executor, binding)
      if (typeof channel === 'string') return channel
      const { channelId: _channelId, ...bound } = binding
      await replaceEarlier(executor, this.#bindings, { ...bound, channel })
      return 'bound'
    })
  }

  /** Returns the number of the channel. */
  async #bind(
    executor: Executor,
    { channelId, ...binding }: NewBinding,
  ): Promise<number | 'full' | 'no-channel'> {
    const { grantId, passwordHash } = binding
    const found = await lockedChannel(executor, channelId)
    if (found?.passwordHash !== passwordHash) return 'no-channel'
    await executor.run('DELETE FROM bindings WHERE grant_id = ? AND channel = ?', [
      grantId,
      found.id,
    ])
    // The lock keeps another channel from being bound in between. (bindings/2)
    const good = await executor.all(
      `SELECT b.channel FROM ${GOOD} WHERE b.grant_id = ?${executor.dialect.forUpdate}`,
      [grantId],
    )
    if (good.length >= BINDINGS_MAX) return 'full'
    await this.#bindings.write(executor, [{ ...binding, channel: found.id }])
    return found.id
  }

  ofGrant(grantId: string): Promise<readonly Binding[]> {
    return this.#database.all<Binding>(
      `SELECT c.channel_id AS channelId, c.name AS channelName, b.bound_at AS boundAtMs
          FROM ${GOOD} WHERE b.grant_id = ? ORDER BY b.bound_at, c.id LIMIT ?`,
      [grantId, BINDINGS_MAX],
    )
  }

  ofChannel(channelId: ChannelId): Promise<readonly BoundAssistant[]> {
    return this.#database.all<BoundAssistant>(
      `SELECT b.client, MIN(b.client_name) AS clientName, COUNT(*) AS grants,
            MIN(b.bound_at) AS boundAt
          FROM ${GOOD} WHERE c.channel_id = ?
          GROUP BY b.client ORDER BY MIN(b.bound_at), b.client LIMIT 1000`,
      [channelId],
    )
  }

  ofBrowser(client: string, browser: string): Promise<readonly KeptBinding[]> {
    return this.#database.all<KeptBinding>(
      `SELECT b.grant_id AS grantId, c.channel_id AS channelId, c.name AS channelName
          FROM ${GOOD} WHERE b.browser = ? AND b.client = ?
          ORDER BY b.grant_id, b.bound_at, c.id LIMIT ?`,
      [browser, client, BINDINGS_MAX],
    )
  }

  async unbind(grantId: string, channelId: ChannelId): Promise<boolean> {
    const unbound = await this.#database.change(
      `DELETE FROM bindings WHERE grant_id = ?
        AND channel = (SELECT id FROM channels WHERE channel_id = ? AND is_deleted = 0)`,
      [grantId, channelId],
    )
    return unbound > 0
  }

  endUse(channelId: ChannelId, client: string): Promise<boolean> {
    return this.#database.durable((executor) => endUse(executor, channelId, client))
  }

  async startSession(bindSession: NewBindSession): Promise<void> {
    await this.#database.durable((executor) =>
      this.#sessions.write(executor, [{ ...bindSession, channel: 0 }]),
    )
  }

  async session(secretHash: string, nowMs: number): Promise<OpenBindSession | undefined> {
    const found = await this.#database.first<SessionRow>(SESSION, [secretHash])
    if (found === undefined) return undefined
    const { grantId, clientName, channel, expiresAt } = found
    const late = expiresAt > nowMs ? 'open' : 'expired'
    return { grantId, clientName, state: channel > 0 ? 'used' : late }
  }

  useSession(
    secretHash: string,
    binding: Omit<NewBinding, keyof GrantHolder>,
  ): Promise<Bound | 'no-session'> {
    return this.#database.durable<Bound | 'no-session'>(async (executor) => {
      const found = await executor.first<SessionRow>(
        `${SESSION} AND channel = 0 AND expires_at > ?${executor.dialect.forUpdate}`,
        [secretHash, binding.boundAt],
      )
      if (found === undefined) return 'no-session'
      const { channel: _channel, expiresAt: _expiresAt, ...holder } = found
      const bound = await this.#bind(executor, { ...binding, ...holder })
      if (typeof bound === 'string') return bound
      await executor.run('UPDATE bind_sessions SET channel = ? WHERE secret_hash = ?', [
        bound,
        secretHash,
      ]) // bindings/3
      return 'bound'
    })
  }

  async outcome(
    grantId: string,
    bindSession: string,
  ): Promise<{ readonly expiresAt: number; readonly channelId?: ChannelId } | undefined> {
    const found = await this.#database.first<{
      readonly expiresAt: number
      readonly channelId: ChannelId | null
    }>(
      `SELECT s.expires_at AS expiresAt, c.channel_id AS channelId
          FROM bind_sessions s LEFT JOIN channels c ON c.id = s.channel
          WHERE s.bind_session = ? AND s.grant_id = ?`,
      [bindSession, grantId],
    )
    if (found === undefined) return undefined
    const { expiresAt, channelId } = found
    return channelId === null ? { expiresAt } : { expiresAt, channelId }
  }
}

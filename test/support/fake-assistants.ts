// Grants and bindings in memory, as the surface for assistants asks for them.

import type {
  AccessTokens,
  AssistantScope,
  BindSession,
  BindState,
  Binding,
  Bindings,
  Grant,
} from '#domain/assistants'
import type { ChannelId } from '#domain/identity'
import { NOW_MS } from '#test/support/making'

export class FakeAccessTokens implements AccessTokens {
  /** By token and resource. */
  readonly grants = new Map<string, Grant>()
  /** The rejection of every question, when it is set. */
  failure: Error | undefined = undefined

  /** Makes a token that is good for the resource. */
  issue(token: string, resource: string, scopes: readonly AssistantScope[]): Grant {
    const grant: Grant = {
      grantId: `grant of ${token}`,
      clientId: 'client-1',
      clientName: 'An assistant',
      scopes: new Set(scopes),
      expiresAtMs: NOW_MS + 900_000,
    }
    this.grants.set(`${token} ${resource}`, grant)
    return grant
  }

  async verify(token: string, resource: string): Promise<Grant | undefined> {
    if (this.failure !== undefined) throw this.failure
    return this.grants.get(`${token} ${resource}`)
  }
}

export class FakeBindings implements Bindings {
  readonly bound = new Map<string, Binding[]>()
  readonly sessions = new Map<string, BindState>()

  bind(grantId: string, channelId: ChannelId): void {
    const bindings = this.bound.get(grantId) ?? []
    this.bound.set(grantId, [
      ...bindings,
      { channelId, channelName: 'a channel', boundAtMs: NOW_MS },
    ])
  }

  async ofGrant(grantId: string): Promise<readonly Binding[]> {
    return this.bound.get(grantId) ?? []
  }

  async unbind(grantId: string, channelId: ChannelId): Promise<boolean> {
    const bindings = this.bound.get(grantId) ?? []
    const left = bindings.filter((binding) => binding.channelId !== channelId)
    this.bound.set(grantId, left)
    return left.length < bindings.length
  }

  async start(grantId: string): Promise<BindSession> {
    const bindSession = `session-${this.sessions.size + 1}`
    this.sessions.set(`${grantId} ${bindSession}`, { kind: 'pending' })
    const url = `http://127.0.0.1/oauth/bind/secret-${this.sessions.size}`
    return { bindSession, url, expiresAtMs: NOW_MS + 600_000 }
  }

  async state(grantId: string, bindSession: string): Promise<BindState> {
    return this.sessions.get(`${grantId} ${bindSession}`) ?? { kind: 'unknown' }
  }
}

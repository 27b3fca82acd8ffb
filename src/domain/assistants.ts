// Assistants that people let act for them: what an access token grants, and the channels that a
// person bound to that grant. (Specification: MCP; decisions.md 15)

import type { ChannelId } from './identity.ts'

/** A right that a person may grant to an assistant. */
export type AssistantScope = 'mcp:tools' | 'mcp:channels:manage'

export const ASSISTANT_SCOPES: readonly AssistantScope[] = ['mcp:tools', 'mcp:channels:manage']

/** The rights of one access token. */
export interface Grant {
  /** Names the person's permission; it stays the same when tokens are refreshed. */
  readonly grantId: string
  readonly clientId: string
  /** The client's name for itself: text of a stranger. */
  readonly clientName: string
  readonly scopes: ReadonlySet<AssistantScope>
  /** The end of the token, in Unix milliseconds. */
  readonly expiresAtMs: number
}

/** The policy for clients that register themselves. The token is a secret. */
export type ClientRegistration =
  | { readonly kind: 'off' }
  | { readonly kind: 'open' }
  | { readonly kind: 'with-token'; readonly token: string }

/**
 * The credentials on pages for people: a channel with its password, or the gateway token besides.
 */
export type AssistantPages = 'password' | 'token'

export interface AccessTokens {
  /**
   * The grant of an access token that is valid now and was made for this resource (RFC 8707);
   * undefined for any other. Rejects when the store does not answer.
   */
  verify(token: string, resource: string): Promise<Grant | undefined>
}

/**
 * A channel that a grant may use without its password. It ends when the channel gets another
 * password or is deleted.
 */
export interface Binding {
  readonly channelId: ChannelId
  readonly channelName: string
  /** Unix milliseconds. */
  readonly boundAtMs: number
}

/** A page on which a person can bind one channel; good for ten minutes and one use. */
export interface BindSession {
  /** Names the session to the assistant. It opens nothing: the secret stands in `url` alone. */
  readonly bindSession: string
  /** The page for the person. */
  readonly url: string
  /** Unix milliseconds. */
  readonly expiresAtMs: number
}

/** `unknown` stands for a session of another grant too. */
export type BindState =
  | { readonly kind: 'pending' }
  | { readonly kind: 'bound'; readonly channelId: ChannelId }
  | { readonly kind: 'expired' }
  | { readonly kind: 'unknown' }

/** The channels of grants. Each method rejects when the store does not answer. */
export interface Bindings {
  /** The channels that the grant may use now, oldest first; at most BINDINGS_MAX. */
  ofGrant(grantId: string): Promise<readonly Binding[]>
  /** False when the channel was not bound to the grant. */
  unbind(grantId: string, channelId: ChannelId): Promise<boolean>
  start(grantId: string): Promise<BindSession>
  state(grantId: string, bindSession: string): Promise<BindState>
}

/** Channels that one grant may have. */
export const BINDINGS_MAX = 100

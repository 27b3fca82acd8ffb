// The store of the authorization server, and of the channels that people bound to its grants.
// (decisions.md 15)
//
// The store has the SHA-256 of codes, tokens and page secrets, in hex: who reads it opens nothing.
// All times are Unix milliseconds.

import type { Binding } from './assistants.ts'
import type { ChannelId } from './identity.ts'

/** One thing that the authorization server remembers: a code, a token, a client, a grant. */
export type AuthorizationRecord = {
  /** The name that the server's library has for the kind of thing. */
  readonly model: string
  readonly idHash: string
  /** '' where it belongs to none. */
  readonly grantId: string
  /** A second name of a session; '' elsewhere. */
  readonly uid: string
  /** JSON. */
  readonly payload: string
  /** 0 until it was used. */
  readonly consumedAt: number
  readonly expiresAt: number
}

/** The part of a record that a lookup gives while it has not expired. */
export type FoundRecord = Pick<AuthorizationRecord, 'payload' | 'consumedAt'>

export interface AuthorizationRecordStore {
  /**
   * Writes a record over the one of its name. With `atMost` the record is one of so many of its
   * kind that end no later than it: beyond that number those that end first are removed.
   */
  put(record: AuthorizationRecord, atMost?: number): Promise<void>
  find(model: string, idHash: string, nowMs: number): Promise<FoundRecord | undefined>
  findByUid(model: string, uid: string, nowMs: number): Promise<FoundRecord | undefined>
  /** Marks a record as used; false when it was used before, on whichever node. */
  consume(model: string, idHash: string, nowMs: number): Promise<boolean>
  remove(model: string, idHash: string): Promise<void>
  /** Puts off the end of a record; never brings it forward. */
  prolong(model: string, idHash: string, expiresAt: number): Promise<void>
  /** Removes every record, every binding and every bind session of a grant. */
  revokeGrant(grantId: string): Promise<void>
  /**
   * The secrets of a purpose for these periods, made of `fresh` where nobody made them before: the
   * same on every node.
   */
  secrets(purpose: string, fresh: readonly PeriodSecret[]): Promise<readonly PeriodSecret[]>
}

export interface PeriodSecret {
  readonly period: number
  readonly secret: string
}

/** A grant, and the client that has it. */
export interface GrantHolder {
  readonly grantId: string
  /** SHA-256 of the client's id, in hex. Many people may use one client. */
  readonly client: string
  /** Names the browser in which a person allowed the grant; it opens nothing. */
  readonly browser: string
  /** The client's name for itself. */
  readonly clientName: string
}

/** A channel and the proof that whoever binds it knew its password. */
export interface NewBinding extends GrantHolder {
  readonly channelId: ChannelId
  readonly passwordHash: string
  readonly boundAt: number
}

/** An assistant that may use a channel, as its people see it: one client with all its grants. */
export interface BoundAssistant {
  readonly client: string
  readonly clientName: string
  /** Grants of the client that have the channel. */
  readonly grants: number
  /** The time of the first one. */
  readonly boundAt: number
}

/** A channel of an earlier grant of one client in one browser. */
export interface KeptBinding {
  readonly grantId: string
  readonly channelId: ChannelId
  readonly channelName: string
}

export interface NewBindSession extends GrantHolder {
  /** Names it to the assistant. */
  readonly bindSession: string
  /** The hash of the secret in the address of its page. */
  readonly secretHash: string
  readonly expiresAt: number
}

/** A bind session as its page sees it. */
export interface OpenBindSession {
  readonly grantId: string
  readonly clientName: string
  readonly state: 'open' | 'used' | 'expired'
}

export interface BindingStore {
  /**
   * Binds the channel of a consent. Binding again renews. Exact at BINDINGS_MAX under any
   * concurrency. The grant takes the place of those that the same client got in the same browser
   * for this channel: it gets their channels, and they end.
   */
  bind(binding: NewBinding): Promise<'bound' | 'full' | 'no-channel'>
  /** The channels that a grant may use now, oldest first. */
  ofGrant(grantId: string): Promise<readonly Binding[]>
  /** The assistants that may use a channel now, oldest first; at most 1,000. */
  ofChannel(channelId: ChannelId): Promise<readonly BoundAssistant[]>
  /**
   * The channels of a client's grants in a browser, grant by grant: `bind` with one of them carries
   * over the others of its grant. At most BINDINGS_MAX.
   */
  ofBrowser(client: string, browser: string): Promise<readonly KeptBinding[]>
  /** False when the channel was not bound to the grant. */
  unbind(grantId: string, channelId: ChannelId): Promise<boolean>
  /**
   * Takes a channel from every grant of a client, and ends those that have no other; false when
   * none had it.
   */
  endUse(channelId: ChannelId, client: string): Promise<boolean>
  startSession(session: NewBindSession): Promise<void>
  /** Finds a session by the secret of its page. */
  session(secretHash: string, nowMs: number): Promise<OpenBindSession | undefined>
  /** Binds the channel and closes the session, together or not at all. */
  useSession(
    secretHash: string,
    binding: Omit<NewBinding, keyof GrantHolder>,
  ): Promise<'bound' | 'full' | 'no-channel' | 'no-session'>
  /** The outcome of a session of this grant: its channel once a person chose one. */
  outcome(
    grantId: string,
    bindSession: string,
  ): Promise<{ readonly expiresAt: number; readonly channelId?: ChannelId } | undefined>
}

// What crosses between the page and the worker that has its session.

import type { Delivery } from '#src/schemas/frames'
import type { ThingView } from '#src/client/view'

/** The device of the page, and how its session reads channels. */
export interface SessionDevice {
  readonly baseUrl: string
  /** A secret. */
  readonly deviceKey: string
  /** The gateway token, a secret. */
  readonly token: string | undefined
}

/** By channel the secret that reads it. */
export type Secrets = ReadonlyMap<string, string>

export type SessionOrder =
  | { readonly kind: 'open'; readonly device: SessionDevice; readonly secrets: Secrets }
  | { readonly kind: 'secrets'; readonly secrets: Secrets }
  /** The page has drawn the last news and takes the next. */
  | { readonly kind: 'drawn' }
  | { readonly kind: 'wake' | 'close' }

/** The Things of a channel that differ from the last news, as they are. */
export interface ThingNews {
  readonly channelId: string
  readonly changed: readonly ThingView[]
  /** The ids of those that are deleted or no longer known. */
  readonly gone: readonly string[]
}

export type Happening =
  | { readonly kind: 'entry'; readonly delivery: Delivery }
  | { readonly kind: 'channel'; readonly channelId: string; readonly channelName: string }
  | { readonly kind: 'caught-up' | 'unsubscribed'; readonly channelId: string }

export type SessionState =
  | { readonly kind: 'connecting' | 'open' }
  /** `code` is that of what the gateway refused to the session before. */
  | { readonly kind: 'waiting'; readonly delayMs: number; readonly code?: string }

/** The end of a session; `code` is that of a refusal. */
export interface SessionEnd {
  readonly kind: 'closed' | 'replaced' | 'refused' | 'failed'
  readonly code?: string
}

export type SessionReport =
  | {
      readonly kind: 'news'
      readonly things: readonly ThingNews[]
      /** In their order; all of it came before the changes of `things`, or with them. */
      readonly happenings: readonly Happening[]
    }
  | { readonly kind: 'state'; readonly state: SessionState }
  | { readonly kind: 'ended'; readonly end: SessionEnd }

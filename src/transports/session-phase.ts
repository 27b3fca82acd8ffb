// The phases of a session.

import type { ChannelId } from '#domain/identity'
import type { Serving } from './serving.ts'
import type { Input } from './signals.ts'

/** Each phase owns what it needs; a session that leaves it lets that go. (session/2) */
export type Phase =
  | { readonly kind: 'greeting'; readonly untilMs: number }
  | {
      readonly kind: 'admitting'
      readonly untilMs: number
      readonly cursors: ReadonlyMap<ChannelId, number>
      /** True when a subscription changed while the positions were read: they are checked soon. */
      isChanged: boolean
    }
  | {
      readonly kind: 'serving'
      readonly serving: Serving
      nextPingMs: number
      pingsMissed: number
      nextCheckMs: number
    }
  | { readonly kind: 'draining'; readonly serving: Serving; readonly untilMs: number }
  | { readonly kind: 'closed' }

export type InPhase<Kind extends Phase['kind']> = Extract<Phase, { readonly kind: Kind }>
export type InputOf<Kind extends Input['kind']> = Extract<Input, { readonly kind: Kind }>

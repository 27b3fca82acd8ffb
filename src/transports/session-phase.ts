// The phases of a session.

import type { ChannelId } from '#domain/identity'
import type { Serving } from './serving.ts'
import type { Input } from './signals.ts'

/** Each phase has its own state, which is dropped at the end of the phase. (session/2) */
export type Phase =
  | { readonly kind: 'greeting'; readonly untilMs: number }
  | {
      readonly kind: 'admitting'
      readonly untilMs: number
      readonly cursors: ReadonlyMap<ChannelId, number>
      /** True when a subscription changed meanwhile: the session soon checks its positions. */
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

// The steps of a session in a property test.

/** Steps in any order; numbers name channels. */
export type Step =
  | { readonly kind: 'message'; readonly at: number; readonly bytes: number }
  | {
      readonly kind: 'thing'
      readonly at: number
      readonly id: number
      readonly value: number | null
    }
  | { readonly kind: 'delete'; readonly at: number; readonly id: number }
  | { readonly kind: 'burst'; readonly at: number; readonly count: number; readonly bytes: number }
  | {
      readonly kind: 'announce'
      readonly at: number
      readonly count: number
      readonly how: 'pass' | 'lose' | 'repeat'
    }
  | { readonly kind: 'answer'; readonly index: number; readonly isPostponed: boolean }
  | { readonly kind: 'read'; readonly count: number }
  | { readonly kind: 'acknowledge' }
  | { readonly kind: 'reconnect'; readonly withCursors: boolean }
  | { readonly kind: 'lose' }
  | { readonly kind: 'forget'; readonly at: number; readonly share: number }
  | { readonly kind: 'subscribe'; readonly isOn: boolean }
  | { readonly kind: 'tick' }

// A rule, read and compiled. (Specification: Rules and time)

import type { Fields, Json } from '#domain/submission'
import type { Condition } from './conditions.ts'
import type { Wording } from './wording.ts'

/** The Things that a rule watches. */
export type Scope =
  | { readonly kind: 'all' }
  | { readonly kind: 'ids'; readonly ids: ReadonlySet<string> }
  | { readonly kind: 'prefix'; readonly prefix: string }
  | { readonly kind: 'tag'; readonly tag: string }

/** A severity from the time on at which its condition holds; the last that holds counts. */
export interface Level {
  readonly when: Condition
  readonly severity: string
}

export interface EventOutput {
  readonly kind: 'event'
  readonly texts: Readonly<Record<string, Wording>>
  readonly severity: string
  readonly levels: readonly Level[]
  /** Tags, metadata and what it says about its reminders, as they are. */
  readonly fields: Fields
  /** Milliseconds between updates of the texts; 0 for none. */
  readonly updateEveryMs: number
}

export interface MessageOutput {
  readonly kind: 'message'
  readonly texts: Readonly<Record<string, Wording>>
  readonly severity: string
  readonly fields: Fields
  /** Milliseconds after a Message in which a firing sends none; 0 for no bound. */
  readonly atMostEveryMs: number
}

export interface Rule {
  readonly title: string
  readonly isEnabled: boolean
  readonly scope: Scope
  readonly when: Condition
  readonly clear: Condition
  /** Milliseconds for which `when` and `clear` must hold. */
  readonly forMs: number
  readonly clearForMs: number
  readonly output: EventOutput | MessageOutput
  /** The attrs whose change a rule asks for. */
  readonly reads: ReadonlySet<string> | 'any'
  /** The periods of silence after which it is looked at, while nothing fires and while it does. */
  readonly silences: { readonly quiet: readonly number[]; readonly firing: readonly number[] }
  /** The text of `things` and `when`: a rule with the same text keeps its Events. (R5) */
  readonly identity: string
  /** An estimate of the bytes that it takes. */
  readonly bytes: number
}

/** R2: true when late data that changed these attrs counts for a rule. */
export function isMovedBy({ reads }: Pick<Rule, 'reads'>, changed: ReadonlySet<string>): boolean {
  if (reads === 'any') return changed.size > 0
  for (const name of reads) if (changed.has(name)) return true
  return false
}

/** The names of attrs whose values differ; null stands for a missing one. */
export const changedOf = (names: object, before: Fields, after: Fields): ReadonlySet<string> =>
  new Set(Object.keys(names).filter((name) => !isSame(before[name], after[name])))

const isSame = (before: Json | undefined, after: Json | undefined): boolean =>
  JSON.stringify(before ?? null) === JSON.stringify(after ?? null)

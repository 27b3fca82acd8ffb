// A row of the table of benchmarks, and its figures.

import type { Session } from './session.ts'

/** Those that stand a load of submissions. */
export type SubjectId = 'D1' | 'D4-embedded' | 'D4-cluster'
/** The product itself, with less of something or in another time. */
type OwnId =
  | 'own knee'
  | '1,000 things'
  | '1 lane'
  | '1,000 channels'
  | 'before any expire'
  | 'alone'
  | 'without rules'
  | 'accept-embedded'
export type DenominatorId = SubjectId | OwnId | 'D7' | 'D8' | 'D9' | 'D10' | 'D11' | 'needed'

export interface Range {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** The goal of a figure: a least or greatest ratio to a denominator, or such a value. */
export type Goal =
  | { readonly kind: 'ratio-at-least'; readonly must: number; readonly aim: number }
  | { readonly kind: 'ratio-at-most'; readonly must: number; readonly aim: number }
  | { readonly kind: 'at-least'; readonly must: number; readonly aim: number }
  | { readonly kind: 'at-most'; readonly must: number; readonly aim: number }

/** The denominator of a figure, and their ratio over the runs. */
export interface Denominator {
  readonly id: DenominatorId
  readonly value: Range | undefined
  /** The ratio of both in the same run: a machine may have half of its speed in the next one. */
  readonly ratio: Range | undefined
}

export interface Figure {
  /** The row's name, with `.part` behind it when the row has several figures. */
  readonly row: string
  readonly unit: string
  /** Undefined: there is no rate, for the reason in `failure`. */
  readonly value: Range | undefined
  readonly failure?: string
  readonly denominator?: Denominator
  readonly goal: Goal
  readonly details: Readonly<Record<string, unknown>>
}

/** One benchmark. */
export interface Row {
  readonly name: string
  measure(session: Session): Promise<readonly Figure[]>
}

export type Verdict = 'aim' | 'must' | 'no' | 'FAILED'

/** The goal that a figure meets. */
export function verdictOf(figure: Figure): Verdict {
  const { value, goal } = figure
  if (value === undefined) return 'FAILED'
  const ratio = figure.denominator?.ratio?.median
  const judged = goal.kind === 'at-most' || goal.kind === 'at-least' ? value.median : ratio
  if (judged === undefined) return 'FAILED'
  if (!isLeast(goal)) {
    return judged <= goal.aim ? 'aim' : judged <= goal.must ? 'must' : 'no'
  }
  return judged >= goal.aim ? 'aim' : judged >= goal.must ? 'must' : 'no'
}

/** True for a goal that more is better for. */
export const isLeast = ({ kind }: Goal): boolean => kind === 'at-least' || kind === 'ratio-at-least'

/** A figure as --json writes it. */
export function recordOf(figure: Figure): Readonly<Record<string, unknown>> {
  const { row, unit, value, failure, denominator, goal, details } = figure
  return {
    row,
    value: value?.median ?? null,
    unit,
    denominator: denominator?.value?.median ?? null,
    ratio: denominator?.ratio?.median ?? null,
    must: goal.must,
    aim: goal.aim,
    meets: verdictOf(figure),
    details: {
      min: value?.min,
      max: value?.max,
      goal: goal.kind,
      denominator: denominator?.id,
      denominatorMin: denominator?.value?.min,
      denominatorMax: denominator?.value?.max,
      ratioMin: denominator?.ratio?.min,
      ratioMax: denominator?.ratio?.max,
      failure,
      ...details,
    },
  }
}

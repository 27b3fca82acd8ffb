// CEL: the free form of a condition. It has no clock and no I/O, and it ends.
//
// Invariants:
//   expression/1. An evaluation is bounded: by length and depth of the text, by the nodes of its
//     tree, and by the steps that it may take. (work/1)
//   expression/2. Numbers of JSON are doubles and whole literals are integers: they compare and
//     calculate with each other.
//   expression/3. What the library keeps of the expressions that it has checked is bounded.

import { Environment } from '@marcbachmann/cel-js'

import { isRecord } from '#domain/record'
import type { Fields } from '#domain/submission'
import { Scope, evaluationOf } from './evaluation.ts'
import { EXPRESSION_MAX } from './limits.ts'
import type { Sent } from './reading.ts'
import { checkTree, namesIn, nodesIn } from './tree.ts'
import { Failure } from './values.ts'
import { EXPRESSION_STEPS_MAX, OUT_OF_STEPS } from './work.ts'
import type { Work } from './work.ts'

const NODES_MAX = 128
const DEPTH_MAX = 16

const LIMITS = {
  maxAstNodes: NODES_MAX,
  maxDepth: DEPTH_MAX,
  maxListElements: 64,
  maxMapEntries: 16,
  maxCallArguments: 4,
}

/** expression/2: the operators that the library does not allow by itself. */
function environment(): Environment {
  const made = new Environment({ limits: LIMITS })
    .registerVariable('attrs', 'map')
    .registerVariable('thing', 'map')
  const isChecked = (): number => NaN // The library checks types, and evaluates nothing.
  for (const sign of ['+', '-', '*', '/', '%']) {
    made.registerOperator(`double ${sign} int`, isChecked)
    made.registerOperator(`int ${sign} double`, isChecked)
  }
  return made.registerOperator('double % double', isChecked)
}

/** Expressions that one environment checks: it keeps each pair of types that it has compared. */
const CHECKED_MAX = 1_000

let shared: Environment | undefined
let checked = 0

/** expression/3 */
function nextEnvironment(): Environment {
  if (checked % CHECKED_MAX === 0) shared = undefined
  checked += 1
  return (shared ??= environment())
}

/** The values that an expression sees, and its budget. */
interface ExpressionInput {
  /** null marks a removed value, which an expression does not see. */
  readonly attrs: Fields
  readonly thing: { readonly id: string; readonly title: string }
  readonly work: Work
}

export interface Expression {
  /** True or false; a text says why the expression fails on these values. */
  readonly evaluate: (input: ExpressionInput) => boolean | string
  /** The attrs that it reads; `any` when only its evaluation tells. */
  readonly reads: readonly string[] | 'any'
  /** An estimate of the bytes that it takes. */
  readonly bytes: number
}

// What an evaluation takes in the heap of V8, rounded up.
const EXPRESSION_BYTES = 1_024
const NODE_BYTES = 320

/** Compiles an expression; the fault says what is wrong with it. */
export function compileExpression(sent: Sent): Expression {
  const text = sent.text(EXPRESSION_MAX)
  const known = nextEnvironment()
  const parsed = attempt(sent, () => known.parse(text))
  const { ast: tree } = parsed
  checkTree(tree, sent)
  const { valid, type, error: mistake } = parsed.check()
  if (!valid) return sent.wrong(`is no expression: ${mistake?.summary ?? 'wrong types'}`)
  if (type !== 'bool' && type !== 'dyn') return sent.wrong(`must be true or false, not ${type}`)
  const run = evaluationOf(tree, sent)
  const evaluate: Expression['evaluate'] = ({ attrs, thing, work }) => {
    const scope = new Scope(attrs, thing, work)
    const result = work.within(EXPRESSION_STEPS_MAX, () => run(scope)) // expression/1
    if (typeof result === 'boolean') return result
    if (result === undefined) return work.isSpent ? OUT_OF_STEPS : TOO_MANY_STEPS
    if (result instanceof Failure) return result.reason.slice(0, SUMMARY_MAX)
    return 'the expression gives neither true nor false'
  }
  const bytes = EXPRESSION_BYTES + nodesIn(tree) * NODE_BYTES
  return { evaluate, reads: namesIn(tree) ?? 'any', bytes }
}

const TOO_MANY_STEPS = `the expression takes more than ${EXPRESSION_STEPS_MAX} steps`

function attempt<Result>(sent: Sent, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    return sent.wrong(`is no expression: ${summaryOf(error)}`)
  }
}

const SUMMARY_MAX = 200

function summaryOf(error: unknown): string {
  const { summary } = isRecord(error) ? error : {}
  return (typeof summary === 'string' ? summary : 'it cannot be read').slice(0, SUMMARY_MAX)
}

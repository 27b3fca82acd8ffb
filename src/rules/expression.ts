// CEL: the free form of a condition. It has no clock and no I/O, and it ends.
//
// Invariants:
//   expression/1. An evaluation is bounded: length and depth of the text, the nodes of its tree,
//     and the values over which a macro runs. Functions whose cost grows faster than their input
//     are not there (`matches` could take minutes).
//   expression/2. Numbers of JSON are doubles and whole literals are integers: they compare and
//     calculate with each other.

import { Environment } from '@marcbachmann/cel-js'
import type { ASTNode } from '@marcbachmann/cel-js'

import type { Json } from '#domain/submission'
import { bare, isRecord } from '#domain/record'
import type { Sent } from './reading.ts'

const LENGTH_MAX = 1_024
const NODES_MAX = 128
const DEPTH_MAX = 16
/** The values that `attrs` may hold, at every depth, where a macro runs over lists. */
const MACRO_VALUES_MAX = 256

const MACROS = 'all exists exists_one filter map'.split(' ')
const CALLS = `has size int double string bool dyn
  startsWith endsWith contains lowerAscii upperAscii trim`.split(/\s+/)
const FUNCTIONS = new Set([...MACROS, ...CALLS])

const LIMITS = {
  maxAstNodes: NODES_MAX,
  maxDepth: DEPTH_MAX,
  maxListElements: 64,
  maxMapEntries: 16,
  maxCallArguments: 4,
}

/** expression/2 */
function environment(): Environment {
  const made = new Environment({ limits: LIMITS })
    .registerVariable('attrs', 'map')
    .registerVariable('thing', 'map')
  const calculate = {
    '+': (one: number, other: number) => one + other,
    '-': (one: number, other: number) => one - other,
    '*': (one: number, other: number) => one * other,
    '/': (one: number, other: number) => one / other,
    '%': (one: number, other: number) => one % other,
  }
  for (const [sign, result] of Object.entries(calculate)) {
    const ofNumbers = (one: number | bigint, other: number | bigint): number =>
      result(Number(one), Number(other))
    made.registerOperator(`double ${sign} int`, ofNumbers)
    made.registerOperator(`int ${sign} double`, ofNumbers)
  }
  return made.registerOperator('double % double', calculate['%'])
}

let shared: Environment | undefined

/** The values that an expression sees. */
export interface ExpressionInput {
  /** null marks a removed value, which an expression does not see. */
  readonly attrs: Readonly<Record<string, Json>>
  readonly thing: { readonly id: string; readonly title: string }
}

export interface Expression {
  /** True or false; a text says why the expression fails on these values. */
  readonly evaluate: (input: ExpressionInput) => boolean | string
  /** The attrs that it reads; `any` when only its evaluation tells. */
  readonly reads: readonly string[] | 'any'
  /** An estimate of the bytes that it takes. */
  readonly bytes: number
}

// What the parser keeps in the heap of V8, rounded up.
const EXPRESSION_BYTES = 1_024
const NODE_BYTES = 320

/** Compiles an expression; the fault says what is wrong with it. */
export function compileExpression(sent: Sent): Expression {
  const text = sent.text(LENGTH_MAX)
  const known = (shared ??= environment())
  const parsed = attempt(sent, () => known.parse(text))
  const { valid, type, error: mistake } = parsed.check()
  if (!valid) return sent.wrong(`is no expression: ${mistake?.summary ?? 'wrong types'}`)
  if (type !== 'bool' && type !== 'dyn') return sent.wrong(`must be true or false, not ${type}`)
  const hasMacros = checkCalls(parsed.ast, { sent, isWithin: false })
  const names = namesIn(parsed.ast)
  const presentIn = hasMacros ? withoutRemoved : presentFor(names)
  const evaluate: Expression['evaluate'] = ({ attrs: all, thing }) => {
    const attrs = presentIn(all)
    if (hasMacros && !isWithinValues(attrs)) {
      return `attrs holds more than ${MACRO_VALUES_MAX} values` // expression/1
    }
    try {
      const result: unknown = parsed({ attrs, thing })
      return typeof result === 'boolean' ? result : 'the expression gives neither true nor false'
    } catch (error) {
      return summaryOf(error)
    }
  }
  const bytes = EXPRESSION_BYTES + nodesIn(parsed.ast) * NODE_BYTES
  return { evaluate, reads: names ?? 'any', bytes }
}

type Attrs = ExpressionInput['attrs']

/** Removed values that the expression does not name may stay: a copy costs more than the rest. */
function presentFor(names: readonly string[] | undefined): (attrs: Attrs) => Attrs {
  if (names === undefined) return withoutRemoved
  return (attrs) => (names.every((name) => attrs[name] !== null) ? attrs : withoutRemoved(attrs))
}

function withoutRemoved(attrs: Attrs): Attrs {
  const present = bare<Json>()
  for (const [name, value] of Object.entries(attrs)) if (value !== null) present[name] = value
  return present
}

/** The names of `attrs.name`; undefined when the expression uses `attrs` in another way. */
function namesIn(node: ASTNode): readonly string[] | undefined {
  if (isAttrs(node)) return undefined
  if (node.op === '.') {
    const [of, name] = node.args
    if (isAttrs(of)) return [name]
  }
  const found: string[] = []
  for (const child of childrenOf(node.args)) {
    const names = namesIn(child)
    if (names === undefined) return undefined
    found.push(...names)
  }
  return found
}

function nodesIn({ args }: ASTNode): number {
  let count = 1
  for (const child of childrenOf(args)) count += nodesIn(child)
  return count
}

const isAttrs = ({ op, args }: ASTNode): boolean => op === 'id' && args === 'attrs'

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
  return (typeof summary === 'string' ? summary : 'it cannot be evaluated').slice(0, SUMMARY_MAX)
}

/** expression/1: gives whether there is a macro; refuses other functions and nested macros. */
function checkCalls(
  node: ASTNode,
  { sent, isWithin }: { readonly sent: Sent; readonly isWithin: boolean },
): boolean {
  const [name] =
    node.op === 'call' || node.op === 'rcall' ? (node.args as readonly [string, ...unknown[]]) : []
  if (name !== undefined && !FUNCTIONS.has(name)) sent.wrong(`has no function ${name}`)
  const isMacro = node.op === 'rcall' && MACROS.includes(String(name))
  if (isMacro && isWithin) sent.wrong('must not have a macro within a macro')
  let found = isMacro
  for (const child of childrenOf(node.args)) {
    if (checkCalls(child, { sent, isWithin: isWithin || isMacro })) found = true
  }
  return found
}

function* childrenOf(args: unknown): Generator<ASTNode> {
  if (Array.isArray(args)) for (const one of args) yield* childrenOf(one)
  else if (isRecord(args) && 'op' in args) yield args as unknown as ASTNode
}

function isWithinValues(attrs: Readonly<Record<string, Json>>): boolean {
  const waiting: unknown[] = [attrs]
  for (let count = 0; waiting.length > 0; count += 1) {
    if (count > MACRO_VALUES_MAX || waiting.length > MACRO_VALUES_MAX) return false
    const value = waiting.pop()
    if (typeof value !== 'object' || value === null) continue
    const values: unknown[] = Object.values(value)
    if (values.length > MACRO_VALUES_MAX) return false
    waiting.push(...values)
  }
  return true
}

// Evaluates the tree of an expression, which the library has parsed and checked. The library's own
// evaluation has no bound, and it keeps the types of all values that it has seen.
//
// Invariants:
//   evaluation/1. The nodes of the tree are taken as steps before it is evaluated, and those of a
//     macro again for each item. (work/2)
//   evaluation/2. `&&`, `||`, `all` and `exists` end with the part that decides, whether or not
//     another one fails.

import type { ASTNode, BinaryOperator } from '@marcbachmann/cel-js'

import { bare } from '#domain/record'
import type { Fields } from '#domain/submission'
import { CALLS } from './functions.ts'
import { MACROS, failureOf } from './macros.ts'
import type { Sent } from './reading.ts'
import { isAttrs, isMacro, nodesIn } from './tree.ts'
import { BINARY, Failure, SPENT, UNARY, itemsOf, memberOf, missing, valueAt } from './values.ts'
import type { Result, Value } from './values.ts'
import type { Work } from './work.ts'

/** What one evaluation sees. */
export class Scope {
  readonly thing: Value
  readonly work: Work
  /** The item at which a macro is: macros do not stand within each other. */
  item: Value = null
  readonly #attrs: Fields
  #present: Value | undefined

  /** null marks a removed value in `attrs`, which an expression does not see. */
  constructor(attrs: Fields, thing: Value, work: Work) {
    this.#attrs = attrs
    this.thing = thing
    this.work = work
  }

  /** One of the attrs; undefined when it is not there. */
  attr(name: string): Value | undefined {
    return memberOf(this.#attrs, name) ?? undefined
  }

  /** All attrs, for an expression that does not name those that it reads. */
  attrs(): Result {
    return (this.#present ??= this.#withoutRemoved()) ?? SPENT
  }

  #withoutRemoved(): Value | undefined {
    const members = Object.entries(this.#attrs)
    if (!this.work.take(members.length)) return undefined
    const present = bare<Value>()
    for (const [name, value] of members) if (value !== null) present[name] = value
    return present
  }
}

/** Evaluates an expression, or a part of one. */
export type Run = (scope: Scope) => Result

/** Returns the evaluation of a tree that has been checked. Throws Wrong. */
export function evaluationOf(tree: ASTNode, sent: Sent): Run {
  const run = runOf(tree, { sent })
  const nodes = nodesIn(tree)
  return (scope) => (scope.work.take(nodes) ? run(scope) : SPENT) // evaluation/1
}

interface Place {
  readonly sent: Sent
  /** The name of the item within a macro. */
  readonly item?: string
}

function runOf(node: ASTNode, place: Place): Run {
  const { sent } = place
  const runs = (nodes: readonly ASTNode[]): readonly Run[] =>
    nodes.map((part) => runOf(part, place))
  if (isBinary(node)) return pair(runs(node.args), BINARY[node.op])
  switch (node.op) {
    case 'value': {
      const value: unknown = node.args?.valueOf() ?? null // An unsigned integer is one as well.
      return typeof value === 'object' && value !== null
        ? sent.wrong('has no bytes')
        : () => value as Value
    }
    case 'id':
      return named(node.args, place)
    case '.':
      return member(node.args, place)
    case '[]':
      return pair(runs(node.args), valueAt)
    case 'list':
      return strict(runs(node.args), (values) => values)
    case 'map':
      return strict(runs(node.args.flat()), mapOf)
    case '?:':
      return choice(runs(node.args))
    case '||':
    case '&&':
      return deciding(runs(node.args), node.op === '||')
    case '!_':
    case '-_': {
      const of = UNARY[node.op]
      return strict([runOf(node.args, place)], ([value = null]) => of(value))
    }
    case 'call':
    case 'rcall':
      return call(node, place)
    case '.?':
    case '[?]':
      return sent.wrong('has no optional values')
  }
}

const isBinary = (node: ASTNode): node is Extract<ASTNode, { readonly op: BinaryOperator }> =>
  Object.hasOwn(BINARY, node.op)

function named(name: string, { sent, item }: Place): Run {
  if (name === item) return (scope) => scope.item
  if (name === 'attrs') return (scope) => scope.attrs()
  if (name === 'thing') return (scope) => scope.thing
  return sent.wrong(`has no value ${name}`)
}

function member([of, name]: readonly [ASTNode, string], place: Place): Run {
  const absent = missing(name)
  if (isAttrs(of) && place.item !== 'attrs') return (scope) => scope.attr(name) ?? absent
  const run = runOf(of, place)
  return (scope) => {
    const value = run(scope)
    if (value instanceof Failure) return value
    const found = memberOf(value, name)
    return found === undefined ? absent : found
  }
}

/** Returns the first failure of its parts. */
const strict =
  (runs: readonly Run[], result: (values: readonly Value[], work: Work) => Result): Run =>
  (scope) => {
    const values: Value[] = []
    for (const run of runs) {
      const value = run(scope)
      if (value instanceof Failure) return value
      values.push(value)
    }
    return result(values, scope.work)
  }

function pair(
  [first, second]: readonly Run[],
  result: (left: Value, right: Value, work: Work) => Result,
): Run {
  if (first === undefined || second === undefined) throw new Error('an operator has two operands')
  return (scope) => {
    const left = first(scope)
    if (left instanceof Failure) return left
    const right = second(scope)
    return right instanceof Failure ? right : result(left, right, scope.work)
  }
}

/** Makes a map of keys and values by turns. */
function mapOf(parts: readonly Value[]): Result {
  const made = bare<Value>()
  for (let index = 0; index < parts.length; index += 2) {
    const key = parts[index] ?? null
    if (typeof key === 'object') return new Failure('a key is a text, a number, true or false')
    made[String(key)] = parts[index + 1] ?? null
  }
  return made
}

const choice =
  ([condition, one, other]: readonly Run[]): Run =>
  (scope) => {
    const holds = condition?.(scope) ?? null
    if (typeof holds !== 'boolean') return failureOf(holds)
    return (holds ? one : other)?.(scope) ?? null
  }

/** `decides`: the result of a part that decides the whole. (evaluation/2) */
const deciding =
  (parts: readonly Run[], decides: boolean): Run =>
  (scope) => {
    let failure: Failure | undefined
    for (const run of parts) {
      const given = run(scope)
      if (given === decides) return decides
      if (given !== !decides) failure ??= failureOf(given)
    }
    return failure ?? !decides
  }

function call(node: ASTNode & { readonly op: 'call' | 'rcall' }, place: Place): Run {
  if (node.op === 'rcall' && isMacro(node)) return macro(node.args, place)
  const [name] = node.args
  const values = node.op === 'call' ? node.args[1] : [node.args[1], ...node.args[2]]
  if (name === 'has') return has(values, place)
  const result = CALLS[name]
  if (result === undefined) return place.sent.wrong(`has no function ${name}`)
  return strict(
    values.map((value) => runOf(value, place)),
    result,
  )
}

/** `has(a.b.c)`: a member on the way has to be there, the last one may be missing. */
function has([path]: readonly ASTNode[], place: Place): Run {
  if (path?.op !== '.') return place.sent.wrong('must name a member in has')
  const [of, name] = path.args
  if (isAttrs(of) && place.item !== 'attrs') return (scope) => scope.attr(name) !== undefined
  const run = runOf(of, place)
  return (scope) => {
    const value = run(scope)
    return value instanceof Failure ? value : memberOf(value, name) !== undefined
  }
}

/** Runs over the items of a list, or the names of a map. */
function macro(
  [name, of, [variable, ...parts]]: readonly [string, ASTNode, readonly ASTNode[]],
  place: Place,
): Run {
  const item = variable?.op === 'id' ? variable.args : ''
  const over = runOf(of, place)
  const [first, second] = parts.map((part) => runOf(part, { ...place, item }))
  const result = MACROS[name]
  if (first === undefined || result === undefined) return place.sent.wrong('has an empty macro')
  const steps = parts.reduce((sum, part) => sum + nodesIn(part), 1)
  return (scope) => {
    const value = over(scope)
    const items = value instanceof Failure ? value : itemsOf(value, scope.work)
    if (items instanceof Failure) return items
    const each = (run: Run) => (one: Value) => {
      if (!scope.work.take(steps)) return SPENT // evaluation/1
      scope.item = one
      return run(scope)
    }
    return result(items, each(first), second && each(second))
  }
}

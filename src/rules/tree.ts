// The tree of an expression, as the library parses it: what is offered, and what it reads.
//
// Invariants:
//   tree/1. A list or a map is not written within another one. The library keeps every type that it
//     has met, and so there are few of them.

import type { ASTNode } from '@marcbachmann/cel-js'

import { isRecord } from '#domain/record'
import { CALLS } from './functions.ts'
import { MACROS } from './macros.ts'
import type { Sent } from './reading.ts'

export const isMacro = ({ op, args }: ASTNode): boolean =>
  op === 'rcall' && Object.hasOwn(MACROS, args[0])

export const isAttrs = ({ op, args }: ASTNode): boolean => op === 'id' && args === 'attrs'

function* childrenOf(args: unknown): Generator<ASTNode> {
  if (Array.isArray(args)) for (const one of args) yield* childrenOf(one)
  else if (isRecord(args) && 'op' in args) yield args as unknown as ASTNode
}

export function nodesIn({ args }: ASTNode): number {
  let count = 1
  for (const child of childrenOf(args)) count += nodesIn(child)
  return count
}

/** The names of `attrs.name`; undefined when the expression uses `attrs` in another way. */
export function namesIn(node: ASTNode): readonly string[] | undefined {
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

/** What a node stands within, at any depth. */
interface Within {
  readonly macro?: boolean
  readonly literal?: boolean
}

/** Refuses functions that are not there, macros within macros, and lists within lists. */
export function checkTree(node: ASTNode, sent: Sent, within: Within = {}): void {
  if (node.op === 'call' || node.op === 'rcall') {
    const [name] = node.args
    const isKnown = isMacro(node) || name === 'has' || Object.hasOwn(CALLS, name)
    if (!isKnown) sent.wrong(`has no function ${name}`)
  }
  const macro = isMacro(node)
  const literal = node.op === 'list' || node.op === 'map'
  if (macro && within.macro === true) sent.wrong('must not have a macro within a macro')
  if (literal && within.literal === true) {
    sent.wrong('must not have a list or a map written within another one') // tree/1
  }
  const inner = {
    macro: macro || within.macro === true,
    literal: literal || within.literal === true,
  }
  for (const child of childrenOf(node.args)) checkTree(child, sent, inner)
}

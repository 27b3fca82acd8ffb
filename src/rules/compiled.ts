// Compiles the texts of stored rules.

import { readRule } from './read-rule.ts'
import type { Rule } from './rule.ts'

/** A rule as its text declares it. */
export interface CompiledRule {
  readonly text: string
  /** Absent when this version cannot read it: then it watches nothing, and its row stays. */
  readonly rule: Rule | undefined
  /** An estimate of the bytes that it takes. */
  readonly bytes: number
}

/** Compiles the text of a stored rule. */
export type Compile = (text: string) => CompiledRule

/** Bytes of a rule that watches nothing, beside its text. */
const UNREAD_BYTES = 256

/** Compiles the text of a stored rule anew. */
export function compileText(text: string): CompiledRule {
  const read = readRule(JSON.parse(text))
  const rule = read.kind === 'rule' ? read.rule : undefined
  return { text, rule, bytes: text.length + (rule?.bytes ?? UNREAD_BYTES) }
}

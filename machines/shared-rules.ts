// Rules that channels have in common, compiled once: a fleet that puts one rule into a thousand
// channels pays for one.
//
// Invariants:
//   shared-rules/1. A compiled rule is shared for as long as a channel that is awake has it, and
//     counted once. So there are never more of them than channels that are awake have.

import { compileText } from '#src/rules/rule-set'
import type { RuleSet, Compile, CompiledRule } from '#src/rules/rule-set'

export class SharedRules {
  readonly #byText = new Map<string, CompiledRule>()
  /** How many rules of channels are this one. */
  readonly #uses = new Map<CompiledRule, number>()
  #bytes = 0

  /** An estimate of the bytes that the compiled rules take. */
  get bytes(): number {
    return this.#bytes
  }

  get size(): number {
    return this.#uses.size
  }

  /** Compiles a rule, unless a channel has it. */
  readonly compile: Compile = (text) => this.#byText.get(text) ?? compileText(text)

  /** Says that a channel has other rules than before. (shared-rules/1) */
  replace(before: RuleSet, after: RuleSet): void {
    for (const { compiled } of after.all) this.#use(compiled)
    for (const { compiled } of before.all) this.#release(compiled)
  }

  #use(compiled: CompiledRule): void {
    const uses = this.#uses.get(compiled) ?? 0
    this.#uses.set(compiled, uses + 1)
    if (uses > 0) return
    this.#bytes += compiled.bytes
    if (!this.#byText.has(compiled.text)) this.#byText.set(compiled.text, compiled)
  }

  #release(compiled: CompiledRule): void {
    const left = (this.#uses.get(compiled) ?? 0) - 1
    if (left > 0) {
      this.#uses.set(compiled, left)
      return
    }
    this.#uses.delete(compiled)
    this.#bytes -= compiled.bytes
    if (this.#byText.get(compiled.text) === compiled) this.#byText.delete(compiled.text)
  }
}

// The fields of a rule's form, by the paths that faults of the gateway name.

import { OUTPUT, isRange } from '#console/state/rule-form.ts'
import type { Part, RuleForm } from '#console/state/rule-form.ts'

/** The path of a condition of the form in its rule. */
export const partPath = (form: RuleForm, of: 'when' | 'clear', at: number): string =>
  form[of].length === 1 ? `rule.${of}` : `rule.${of}.${of === 'when' ? form.join : 'all'}[${at}]`

export const levelPath = (at: number): string => `rule.event.levels[${at}]`

/** The paths at which the form shows a fault of a condition. */
const partPaths = ({ test }: Part, base: string): readonly string[] => {
  const limits = isRange(test) ? [0, 1].map((index) => `${base}.${test}[${index}]`) : []
  const attr = test === 'has' ? `${base}.not.attr` : `${base}.attr`
  return [base, attr, `${base}.${test}`, ...limits]
}

/** The field at which the form shows a fault: the one with the longest path that leads there. */
export function fieldOf(form: RuleForm, path: string): string | undefined {
  const parts = (['when', 'clear'] as const).flatMap((of) =>
    form[of].flatMap((part, at) => partPaths(part, partPath(form, of, at))),
  )
  const levels = form.levels.flatMap(({ part }, at) => [
    `${levelPath(at)}.severity`,
    ...partPaths(part, `${levelPath(at)}.when`),
  ])
  const output = Object.values(outputPaths(form))
  const known = [
    'rule.title',
    'rule.things',
    'rule.for',
    'rule.clear_for',
    ...parts,
    ...levels,
    ...output,
  ]
  return known
    .filter((one) => path === one || path.startsWith(`${one}.`) || path.startsWith(`${one}[`))
    .toSorted((a, b) => b.length - a.length)[0]
}

/** The names of an output's members, as paths. */
export function outputPaths({ output }: Pick<RuleForm, 'output'>) {
  const { text, every } = OUTPUT[output]
  const at = `rule.${output}`
  return {
    heading: `${at}.title`,
    text: `${at}.${text}`,
    severity: `${at}.severity`,
    levels: `${at}.levels`,
    tags: `${at}.tags`,
    metadata: `${at}.metadata`,
    every: `${at}.${every}`,
    remindEvery: `${at}.remind_every`,
    escalate: `${at}.escalate`,
  }
}

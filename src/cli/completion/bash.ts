// The completion script for bash.

import { pathText } from './completion-points.ts'
import type { CompletionPoint, Taking } from './completion-points.ts'

/** Load it with `source <(heliograph completion bash)`. */
export function bashScript(points: readonly CompletionPoint[]): string {
  const paths = points.filter(({ path }) => path.length > 0).map(pathText)
  return [
    '# bash completion of heliograph: source <(heliograph completion bash)',
    '_heliograph() {',
    '  local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" path="" i',
    '  for ((i = 1; i < COMP_CWORD; i++)); do',
    '    case "$path ${COMP_WORDS[i]}" in',
    `      ${paths.map((path) => `'${path}'`).join('|')}) path="$path \${COMP_WORDS[i]}" ;;`,
    '    esac',
    '  done',
    '  case "$path:$before" in',
    ...points.flatMap(valueCases),
    '  esac',
    '  case "$path" in',
    ...points.map((point) => `    '${pathText(point)}') ${repliesAt(point)} ;;`),
    '  esac',
    '}',
    'complete -F _heliograph heliograph',
  ].join('\n')
}

/** One case for all options of a completion point that have the same reply. */
function valueCases(point: CompletionPoint): readonly string[] {
  const patterns = new Map<string, string[]>()
  for (const { name, takes } of point.options) {
    if (takes.kind === 'nothing') continue
    const reply = replyWith(takes)
    patterns.set(reply, [...(patterns.get(reply) ?? []), `'${pathText(point)}:${name}'`])
  }
  return [...patterns].map(([reply, cases]) => `    ${cases.join('|')}) ${reply}; return ;;`)
}

function repliesAt({ commands, options, parameter }: CompletionPoint): string {
  const listed = [...commands, ...options].map(({ name }) => name)
  const choices = parameter.kind === 'choices' ? parameter.choices : []
  const files = parameter.kind === 'file' ? ' $(compgen -f -- "$current")' : ''
  return `COMPREPLY=($(compgen -W '${[...listed, ...choices].join(' ')}' -- "$current")${files})`
}

function replyWith(taking: Taking): string {
  switch (taking.kind) {
    case 'choices':
      return `COMPREPLY=($(compgen -W '${taking.choices.join(' ')}' -- "$current"))`
    case 'file':
      return 'COMPREPLY=($(compgen -f -- "$current"))'
    case 'anything':
    case 'nothing':
      return 'COMPREPLY=()'
  }
}

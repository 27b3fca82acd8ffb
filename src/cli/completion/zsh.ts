// The completion script for zsh.

import type { CompletionPoint, Taking } from './completion-points.ts'

/** Save it as `_heliograph` in a folder of `$fpath`, or load it with `source <(…)`. */
export function zshScript(points: readonly CompletionPoint[]): string {
  return [
    '#compdef heliograph',
    '# zsh completion of heliograph: source <(heliograph completion zsh)',
    ...points.flatMap((point) =>
      point.commands.length > 0 ? groupFunction(point) : commandFunction(point),
    ),
    'if [[ "$funcstack[1]" == "_heliograph" ]]; then _heliograph "$@"',
    'else compdef _heliograph heliograph; fi',
  ].join('\n')
}

const functionOf = (path: readonly string[]): string => ['_heliograph', ...path].join('_')

function groupFunction({ path, commands }: CompletionPoint): readonly string[] {
  return [
    `${functionOf(path)}() {`,
    '  local line state',
    "  _arguments -C '1: :->command' '*:: :->rest'",
    '  case $state in',
    '    command)',
    '      local -a commands_here=(',
    ...commands.map(({ name, help }) => `        ${quoted(`${name}:${help}`)}`),
    '      )',
    "      _describe 'command' commands_here ;;",
    '    rest)',
    '      case $line[1] in',
    ...commands.map(({ name }) => `        ${name}) ${functionOf([...path, name])} ;;`),
    '      esac ;;',
    '  esac',
    '}',
  ]
}

function commandFunction({ path, options, parameter }: CompletionPoint): readonly string[] {
  const specs = options.map(({ name, help, takes }) =>
    quoted(`*${name}[${escaped(help)}]${valueSpec(takes)}`),
  )
  const rest = parameter.kind === 'nothing' ? [] : [quoted(`*${valueSpec(parameter)}`)]
  return [`${functionOf(path)}() {`, `  _arguments ${[...specs, ...rest].join(' \\\n    ')}`, '}']
}

function valueSpec(taking: Taking): string {
  switch (taking.kind) {
    case 'nothing':
      return ''
    case 'anything':
      return ':value:'
    case 'file':
      return ':file:_files'
    case 'choices':
      return `:value:(${taking.choices.join(' ')})`
  }
}

/** These characters have a meaning in a specification of _arguments. */
const escaped = (text: string): string => text.replace(/[[\]:\\]/g, '\\$&')

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

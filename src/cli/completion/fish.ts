// The completion script for fish.

import { pathText } from './completion-points.ts'
import type { CompletedOption, CompletionPoint } from './completion-points.ts'

/** Save it as `~/.config/fish/completions/heliograph.fish`. */
export function fishScript(points: readonly CompletionPoint[]): string {
  const paths = points.filter(({ path }) => path.length > 0).map((point) => quoted(pathText(point)))
  return [
    '# fish completion of heliograph: heliograph completion fish | source',
    'function __heliograph_at',
    '  set -l path',
    '  for word in (commandline -opc)[2..-1]',
    `    if contains -- "$path $word" ${paths.join(' ')}`,
    '      set path "$path $word"',
    '    end',
    '  end',
    '  test "$path" = "$argv[1]"',
    'end',
    'complete -c heliograph -f',
    ...points.flatMap(completionsAt),
  ].join('\n')
}

function completionsAt({ path, commands, options, parameter }: CompletionPoint): readonly string[] {
  const at = `complete -c heliograph -n ${quoted(`__heliograph_at "${pathText({ path })}"`)}`
  const choices = parameter.kind === 'choices' ? parameter.choices : []
  return [
    ...commands.map(({ name, help }) => `${at} -a ${name} -d ${quoted(help)}`),
    ...choices.map((choice) => `${at} -a ${choice}`),
    ...(parameter.kind === 'file' ? [`${at} -F`] : []),
    ...options.map((option) => `${at} ${optionText(option)}`),
  ]
}

function optionText({ name, help, takes }: CompletedOption): string {
  const value = {
    nothing: '',
    anything: ' -x',
    file: ' -r -F',
    choices: takes.kind === 'choices' ? ` -x -a ${quoted(takes.choices.join(' '))}` : '',
  }[takes.kind]
  return `-l ${name.slice(2)}${value} -d ${quoted(help)}`
}

const quoted = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`

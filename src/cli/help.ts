// Help pages, made from the definitions of the commands.

import { CHANNEL } from './access.ts'
import { optionName } from './command.ts'
import type { Command, CommandEntry, Group, Option, Options } from './command.ts'

const WIDTH_MAX = 88
const INDENT = '  '
/** Characters for a help text; with fewer beside the labels, it stands below its label. */
const HELP_WIDTH_MIN = 24

/** The page of a command or a group, for a terminal of so many columns. */
export async function helpLines(
  path: readonly string[],
  entry: CommandEntry | Group,
  columns = WIDTH_MAX,
): Promise<readonly string[]> {
  const name = ['heliograph', ...path].join(' ')
  const width = Math.min(columns, WIDTH_MAX)
  return entry.kind === 'group'
    ? groupLines(name, entry, width)
    : commandLines(name, await entry.load(), width)
}

function groupLines(name: string, group: Group, width: number): readonly string[] {
  const commands = group.entries.map((entry): readonly [string, string] => [
    entry.name,
    entry.summary,
  ])
  return [
    `Usage: ${name} <command> [options]`,
    '',
    ...wrapped(sentence(group.summary), width),
    ...section('Commands', commands, width),
    '',
    ...wrapped(`\`${name} <command> --help\` shows what a command takes.`, width),
    ...(name === 'heliograph' ? wrapped(PROGRAM_NOTES, width) : []),
  ]
}

const PROGRAM_NOTES =
  '`--url`, `--token-file`, `--profile` and `--json` may stand before or behind the command; ' +
  '`--version` prints the version. The environment and a config file can hold lasting ' +
  'settings: HELIOGRAPH_URL, HELIOGRAPH_TOKEN, HELIOGRAPH_CHANNEL, HELIOGRAPH_PASSWORD, and ' +
  '`heliograph config --help`.'

function commandLines(name: string, command: Command, width: number): readonly string[] {
  const parameters = Object.values(command.parameters ?? {})
  const shown = Object.entries(command.options).filter(([, { isHidden }]) => isHidden !== true)
  const isAboutGateway = Object.hasOwn(command.options, 'url')
  const isCommon = (option: string): boolean => isAboutGateway && Object.hasOwn(CHANNEL, option)
  const own = shown.filter(([option]) => !isCommon(option))
  const common = shown.filter(([option]) => isCommon(option))
  const usage = [
    name,
    ...own.flatMap(([option, one]) => (one.isRequired === true ? [optionLabel(option, one)] : [])),
    ...(shown.length > 0 ? ['[options]'] : []),
    ...parameters.map(({ label }) => label),
  ]
  const examples = command.examples.map((example) => `${INDENT}heliograph ${example}`)
  return [
    `Usage: ${usage.join(' ')}`,
    '',
    ...wrapped(command.description, width),
    ...section(
      'Arguments',
      parameters.map(({ label, help }) => [label, help]),
      width,
    ),
    ...section('Options', optionRows(Object.fromEntries(own)), width),
    ...section('Gateway and channel', optionRows(Object.fromEntries(common)), width),
    ...(examples.length > 0 ? ['', 'Examples:', ...examples] : []),
  ]
}

const optionRows = (options: Options): readonly (readonly [string, string])[] =>
  Object.entries(options).map(([name, option]) => [optionLabel(name, option), aboutOption(option)])

const optionLabel = (name: string, { placeholder }: Option<unknown>): string =>
  placeholder === undefined ? optionName(name) : `${optionName(name)} ${placeholder}`

function aboutOption(option: Option<unknown>): string {
  const { help, choices, fallback, isRepeated, variable } = option
  const notes = [
    ...(choices === undefined ? [] : [choices.join(', ')]),
    ...(isRepeated === true ? ['can be repeated'] : []),
    ...(fallback === undefined ? [] : [`default ${JSON.stringify(fallback)}`]),
    ...(variable === undefined ? [] : [variable]),
  ]
  return notes.length === 0 ? help : `${help} (${notes.join('; ')})`
}

/** A heading and its rows in two columns; nothing without rows. */
function section(
  heading: string,
  rows: readonly (readonly [string, string])[],
  columns: number,
): readonly string[] {
  if (rows.length === 0) return []
  const width = Math.min(28, Math.max(...rows.map(([label]) => label.length)))
  const beside = INDENT.length + width + 2
  const isBelow = columns - beside < HELP_WIDTH_MIN
  const indent = ' '.repeat(isBelow ? 2 * INDENT.length : beside)
  const lines = rows.flatMap(([label, help]) => {
    const texts = wrapped(help, columns - indent.length).map((line) => indent + line)
    const [first = '', ...more] = texts
    return isBelow || label.length > width
      ? [INDENT + label, ...texts]
      : [INDENT + label.padEnd(beside - INDENT.length) + first.trimStart(), ...more]
  })
  return ['', `${heading}:`, ...lines]
}

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`

/** The text on lines of at most so many characters. */
function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (longer.length > width && line !== '') {
      lines.push(line)
      line = word
    } else line = longer
  }
  return [...lines, line]
}

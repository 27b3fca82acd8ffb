// Finds the points of the command line where a shell completes something, in the table of commands.

import { optionName } from '#src/cli/command'
import type { Command, CommandEntry, Group } from '#src/cli/command'

export interface CompletedOption {
  /** With its hyphens. */
  readonly name: string
  readonly help: string
  readonly takes: Taking
}

/** The value that follows. */
export type Taking =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'anything' }
  | { readonly kind: 'file' }
  | { readonly kind: 'choices'; readonly choices: readonly string[] }

export interface CompletionPoint {
  /** The names of the groups and the command up to here; none at the front. */
  readonly path: readonly string[]
  readonly commands: readonly { readonly name: string; readonly help: string }[]
  readonly options: readonly CompletedOption[]
  readonly parameter: Taking
}

/** ` thing update`: each name with a space in front. */
export const pathText = ({ path }: Pick<CompletionPoint, 'path'>): string =>
  path.map((name) => ` ${name}`).join('')

/** Every point, the front first. Loads the definition of every command. */
export async function completionPointsOf(
  group: Group,
  path: readonly string[] = [],
): Promise<readonly CompletionPoint[]> {
  const commands = group.entries.map(({ name, summary }) => ({ name, help: summary }))
  const below = await Promise.all(
    group.entries.map(async (entry) => {
      const inside = [...path, entry.name]
      return entry.kind === 'group'
        ? await completionPointsOf(entry, inside)
        : [await completionPointOf(entry, inside)]
    }),
  )
  return [{ path, commands, options: [], parameter: { kind: 'nothing' } }, ...below.flat()]
}

async function completionPointOf(
  entry: CommandEntry,
  path: readonly string[],
): Promise<CompletionPoint> {
  const { options, parameters = {} } = await entry.load()
  const [first] = Object.values(parameters)
  return {
    path,
    commands: [],
    options: completedOptions(options),
    parameter: first === undefined ? { kind: 'nothing' } : takingOf(first),
  }
}

const completedOptions = (options: Command['options']): readonly CompletedOption[] =>
  Object.entries(options)
    .filter(([, { isHidden }]) => isHidden !== true)
    .map(([name, option]) => ({
      name: optionName(name),
      help: option.help,
      takes: option.placeholder === undefined ? { kind: 'nothing' } : takingOf(option),
    }))

function takingOf(item: {
  readonly choices?: readonly string[]
  readonly completes?: 'file'
}): Taking {
  if (item.choices !== undefined) return { kind: 'choices', choices: item.choices }
  return { kind: item.completes ?? 'anything' }
}

// The places of the command line where something can be completed, from the table of words.

import { optionName } from '#src/cli/word'
import type { Group, Leaf, Word } from '#src/cli/word'

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

export interface Place {
  /** The words that lead here; none at the front. */
  readonly path: readonly string[]
  readonly words: readonly { readonly name: string; readonly help: string }[]
  readonly options: readonly CompletedOption[]
  readonly parameter: Taking
}

/** Every place, the front first. Loads the definition of every word. */
export async function placesOf(
  group: Group,
  path: readonly string[] = [],
): Promise<readonly Place[]> {
  const words = group.entries.map(({ name, summary }) => ({ name, help: summary }))
  const below = await Promise.all(
    group.entries.map(async (entry) => {
      const inside = [...path, entry.name]
      return entry.kind === 'group' ? await placesOf(entry, inside) : [await placeOf(entry, inside)]
    }),
  )
  return [{ path, words, options: [], parameter: { kind: 'nothing' } }, ...below.flat()]
}

async function placeOf(leaf: Leaf, path: readonly string[]): Promise<Place> {
  const { options, parameters = {} } = await leaf.load()
  const [first] = Object.values(parameters)
  return {
    path,
    words: [],
    options: completedOptions(options),
    parameter: first === undefined ? { kind: 'nothing' } : takingOf(first),
  }
}

const completedOptions = (options: Word['options']): readonly CompletedOption[] =>
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

// Turns arguments into the values of a command's options and parameters.
//
// Invariants:
//   arguments/1. No error repeats a value or a superfluous argument: it may be a secret.

import { UsageError } from './endings.ts'
import { BadValue, optionName, typedName } from './command.ts'
import type { Option, Options, Parameter, Parameters } from './command.ts'

/** Typed arguments, before a definition gives them a meaning. */
export interface Typed {
  /** Texts of each option by its name in the definition; a flag has an empty text. */
  readonly options: ReadonlyMap<string, readonly string[]>
  readonly parameters: readonly string[]
  readonly wantsHelp: boolean
}

/**
 * Divides arguments into options and parameters. With `stopsEarly` it reads no option behind the
 * first parameter: all arguments from there on are parameters. Throws UsageError. (arguments/1)
 */
export function divide(
  args: readonly string[],
  definitions: Options,
  { stopsEarly = false } = {},
): Typed {
  const known = new Map(Object.keys(definitions).map((name) => [typedName(name), name]))
  const options = new Map<string, string[]>()
  const parameters: string[] = []
  let wantsHelp = false
  for (const token of tokensOf(args, definitions)) {
    if (token.kind === 'positional') {
      if (stopsEarly) return { options, parameters: args.slice(token.index), wantsHelp }
      parameters.push(token.value)
    } else if (token.kind === 'option') {
      const name = known.get(token.name)
      const option = name === undefined ? undefined : definitions[name]
      if (token.name === 'help' || token.rawName === '-h') wantsHelp = true
      else if (name === undefined || option === undefined)
        throw unknownOption(token.rawName, definitions)
      else options.set(name, [...(options.get(name) ?? []), textOf(token, option)])
    }
  }
  return { options, parameters, wantsHelp }
}

/**
 * Parses with Node's parseArgs. An import of node:util would load every part of it: that takes
 * longer than the rest of a short command.
 */
function tokensOf(args: readonly string[], definitions: Options) {
  const { parseArgs } = process.getBuiltinModule('node:util')
  const options = Object.fromEntries(
    Object.entries(definitions).map(([name, { placeholder }]) => [
      typedName(name),
      { type: placeholder === undefined ? ('boolean' as const) : ('string' as const) },
    ]),
  )
  return parseArgs({ args: [...args], options, strict: false, tokens: true }).tokens
}

interface OptionToken {
  readonly rawName: string
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

function textOf({ rawName, value, inlineValue }: OptionToken, option: Option<unknown>): string {
  if (option.placeholder === undefined) {
    if (value !== undefined) throw new UsageError(`${rawName} takes no value`)
    return ''
  }
  if (value === undefined) throw new UsageError(`${rawName} needs ${option.placeholder}`)
  if (inlineValue !== true && /^-[^\d]/.test(value)) {
    throw new UsageError(
      `${rawName} needs ${option.placeholder}; with a hyphen in front, write ${rawName}=…`,
    )
  }
  return value
}

function unknownOption(rawName: string, definitions: Options): UsageError {
  const typed = rawName.replace(/^-+/, '')
  const names = Object.keys(definitions)
  const meant =
    names.find((name) => definitions[name]?.triedAs?.includes(typed)) ??
    similarTo(
      typed,
      names.map((name) => typedName(name)),
    )
  const hint = meant === undefined ? '' : `; did you mean --${meant}?`
  return new UsageError(`unknown option ${rawName}${hint}`)
}

/** The values of a command. Throws UsageError for missing, superfluous and unreadable ones. */
export function valuesOf(
  typed: Typed,
  definition: { readonly options: Options; readonly parameters?: Parameters },
): Readonly<Record<string, unknown>> {
  return {
    ...optionValues(typed, definition.options),
    ...parameterValues(typed.parameters, definition.parameters ?? {}),
  }
}

function optionValues({ options }: Typed, definitions: Options): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, option] of Object.entries(definitions)) {
    const texts = options.get(name)
    if (texts !== undefined) values[name] = named(optionName(name), () => option.read(texts))
    else if (option.isRequired === true) {
      throw new UsageError(`${optionName(name)} ${option.placeholder ?? ''} is required`)
    } else values[name] = option.fallback
  }
  return values
}

function parameterValues(
  given: readonly string[],
  definitions: Parameters,
): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  let at = 0
  for (const [name, parameter] of Object.entries(definitions)) {
    const taken = parameter.isRest === true ? given.slice(at) : given.slice(at, at + 1)
    if (taken.length === 0 && parameter.isOptional !== true) throw missing(parameter)
    values[name] = named(parameter.label, () => parameter.read(taken))
    at += taken.length
  }
  if (at < given.length) {
    const labels = Object.values(definitions).map(({ label }) => label)
    const allowed = labels.length === 0 ? 'none' : labels.join(' ')
    throw new UsageError(`too many arguments: ${allowed} expected, ${given.length} given`)
  }
  return values
}

const missing = ({ label, help }: Parameter<unknown>): UsageError =>
  new UsageError(`${label} is missing: ${help}`)

function named<Value>(name: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (error instanceof BadValue) throw new UsageError(`${name}: ${error.message}`)
    throw error
  }
}

/** The known name that differs from the typed one by at most two letters. */
export function similarTo(typed: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((name) => ({ name, distance: distanceBetween(typed, name) }))
    .toSorted((a, b) => a.distance - b.distance)
  return best !== undefined && best.distance <= Math.min(2, best.name.length / 2)
    ? best.name
    : undefined
}

/** The number of letters to insert, remove or replace (Levenshtein distance). */
function distanceBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let index = 0; index < a.length; index += 1) {
    const next = [index + 1]
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (a[index] === b[column - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}

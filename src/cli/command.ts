// The definition of a command: its options, parameters, help texts and the function to run. The
// parser, the help, the completion and the documents read the same definition.

import type { ProcessContext } from './process-context.ts'

/** A value that cannot be read. The message names the allowed values and never repeats this one. */
export class BadValue extends Error {}

export interface Option<Value> {
  readonly help: string
  /** The name of the value in help, as `<file>`; absent: a flag. */
  readonly placeholder?: string | undefined
  /** Names of other options for which people take it; the error for one of them names it. */
  readonly triedAs?: readonly string[]
  readonly isRepeated?: boolean
  readonly isRequired?: boolean
  /** Process lists show arguments, so a secret on the command line causes a warning. */
  readonly isSecret?: boolean
  readonly isHidden?: boolean
  readonly fallback?: Value
  readonly choices?: readonly string[]
  readonly completes?: 'file'
  /** The environment variable that gives the value where the option does not. */
  readonly variable?: string
  /** Reads the value from the given texts, at least one. Throws BadValue. */
  readonly read: (texts: readonly string[]) => Value
}

export interface Parameter<Value> {
  /** The form that help shows: `<thing_id>`, `[key=value...]`. */
  readonly label: string
  readonly help: string
  readonly isOptional?: boolean
  /** Takes all arguments that follow; allowed for the last parameter only. */
  readonly isRest?: boolean
  readonly choices?: readonly string[]
  readonly completes?: 'file'
  /** Gets no text only where the parameter is optional. Throws BadValue. */
  readonly read: (texts: readonly string[]) => Value
}

/** Marks an option that always has a value. */
interface Always {
  readonly isAlways: true
}

export type Options = Readonly<Record<string, Option<unknown>>>
export type Parameters = Readonly<Record<string, Parameter<unknown>>>

type Of<Item> = Item extends { readonly read: (texts: readonly string[]) => infer Value }
  ? Value
  : never

/** The values of options by their names; undefined for an option that is not given. */
export type Given<Named extends Options> = {
  readonly [Name in keyof Named]: Named[Name] extends Always
    ? Of<Named[Name]>
    : Of<Named[Name]> | undefined
}

export type Taken<Named extends Parameters> = { readonly [Name in keyof Named]: Of<Named[Name]> }

/** The context of a run: the process, and the whole program for the completion. */
export interface CommandContext extends ProcessContext {
  readonly program: Group
}

export interface Definition<Opts extends Options, Pars extends Parameters> {
  /** Sentences for help. */
  readonly description: string
  readonly parameters?: Pars
  readonly options: Opts
  /** Command lines without the name of the program. */
  readonly examples: readonly string[]
  /** Resolves with an exit code, or nothing for success. */
  run(given: Given<Opts> & Taken<Pars>, context: CommandContext): Promise<number | void>
}

export type Command = Definition<Options, Parameters>

/** Types a command by its own options and parameters. */
export const command = <Opts extends Options, Pars extends Parameters = Record<never, never>>(
  definition: Definition<Opts, Pars>,
): Command => definition

/** A command in the table; `load` loads its definition when a run needs it. */
export interface CommandEntry {
  readonly kind: 'command'
  readonly name: string
  readonly summary: string
  readonly load: () => Promise<Command>
}

export interface Group {
  readonly kind: 'group'
  readonly name: string
  readonly summary: string
  readonly entries: readonly (CommandEntry | Group)[]
}

type More<Value> = Partial<Omit<Option<Value>, 'help' | 'read' | 'placeholder'>>

/** An option with one value; the last one wins. */
export const valued = <Value>(
  placeholder: string,
  help: string,
  readOne: (text: string) => Value,
  more: More<Value> = {},
): Option<Value> => ({
  ...more,
  help,
  placeholder,
  read: (texts) => readOne(texts.at(-1) ?? ''),
})

const asIs = (text: string): string => text

export const text = (placeholder: string, help: string, more: More<string> = {}): Option<string> =>
  valued(placeholder, help, asIs, more)

/** An option that can be repeated. */
export const texts = (
  placeholder: string,
  help: string,
  more: More<readonly string[]> = {},
): Option<readonly string[]> => ({
  ...more,
  help,
  placeholder,
  isRepeated: true,
  read: (given) => given,
})

/** The same, each read by itself. */
export const severally = <Value>(
  placeholder: string,
  help: string,
  readOne: (text: string) => Value,
  more: Pick<Option<unknown>, 'choices'> = {},
): Option<readonly Value[]> => ({
  ...more,
  help,
  placeholder,
  isRepeated: true,
  read: (given) => given.map(readOne),
})

export const fileOption = (help: string, more: More<string> = {}): Option<string> =>
  text('<file>', help, { completes: 'file', ...more })

export const flag = (help: string, more: More<boolean> = {}): Option<boolean> => ({
  ...more,
  help,
  read: () => true,
})

/** One of a few texts. */
export const choice = <Choice extends string>(
  placeholder: string,
  choices: readonly Choice[],
  help: string,
): Option<Choice> => valued(placeholder, help, oneOf(choices), { choices })

/** Reads one of a few texts. */
export const oneOf =
  <Choice extends string>(choices: readonly Choice[]) =>
  (given: string): Choice => {
    const found = choices.find((one) => one === given)
    if (found === undefined) throw new BadValue(`allowed: ${choices.join(', ')}`)
    return found
  }

export const required = <Value>(option: Option<Value>): Option<Value> & Always => ({
  ...option,
  isRequired: true,
  isAlways: true,
})

export const withDefault = <Value>(
  option: Option<Value>,
  fallback: Value,
): Option<Value> & Always => ({ ...option, fallback, isAlways: true })

type ParameterMore = Pick<Parameter<unknown>, 'completes'>

/** A parameter that must be given. */
export const parameter = (
  label: string,
  help: string,
  more: ParameterMore = {},
): Parameter<string> => ({ ...more, label, help, read: ([given = '']) => given })

/** A parameter that is one of a few texts. */
export const chosen = <Choice extends string>(
  label: string,
  choices: readonly Choice[],
  help = choices.join(', '),
): Parameter<Choice> => ({
  label,
  help,
  choices,
  read: ([given = '']) => oneOf(choices)(given),
})

export const optional = (label: string, help: string): Parameter<string | undefined> => ({
  label,
  help,
  isOptional: true,
  read: ([given]) => given,
})

/** All further arguments; there may be none. */
export const rest = (label: string, help: string): Parameter<readonly string[]> => ({
  label,
  help,
  isOptional: true,
  isRest: true,
  read: (given) => given,
})

/** One or more, up to a limit. */
export const someOf = (label: string, help: string, max: number): Parameter<readonly string[]> => ({
  label,
  help,
  isRest: true,
  read: (given) => {
    if (given.length > max) throw new BadValue(`${max} at most`)
    return given
  },
})

/** `observed-at` of `observedAt`. */
export const typedName = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** `--observed-at` of `observedAt`. */
export const optionName = (name: string): string => `--${typedName(name)}`

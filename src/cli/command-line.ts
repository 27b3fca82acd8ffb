// The whole command line: from arguments to an exit code.
//
// Invariants:
//   command-line/1. The exit code is one of EXIT (endings.ts), or that of the gateway of `serve`.
//   command-line/2. No error repeats the value of an option or a superfluous argument: it may be a
//     secret.
//   command-line/3. A run loads the definition of its own command and no other, the help only for a
//     help page, and the encryption only for a passphrase.

import { ACCESS } from './access.ts'
import { divide, similarTo, valuesOf } from './arguments.ts'
import type { Typed } from './arguments.ts'
import { EXIT, UsageError, endingLine, endingOf } from './endings.ts'
import type { ProcessContext } from './process-context.ts'
import { PROGRAM } from './table.ts'
import { flag, optionName } from './command.ts'
import type { CommandEntry, Group, Options } from './command.ts'

/** Options that may also come before the command. */
const FRONT: Options = { ...ACCESS, version: flag('print the version') }

/** Runs one command line; `args` begin behind the name of the program. Gives the exit code. */
export async function runCommandLine(
  args: readonly string[],
  context: ProcessContext,
): Promise<number> {
  try {
    return await run(args, context)
  } catch (error) {
    const ending = endingOf(error)
    const isJson = args.includes('--json')
    context.terminal.printDiagnostic(
      isJson ? JSON.stringify({ error: ending }) : endingLine(ending),
    )
    return ending.exit_code
  }
}

async function run(args: readonly string[], context: ProcessContext): Promise<number> {
  const front = divide(args, FRONT, { stopsEarly: true })
  if (front.options.has('version')) return await printVersion(context)
  const isHelp = front.parameters[0] === 'help'
  const { path, entry, left } = entryOf(isHelp ? front.parameters.slice(1) : front.parameters)
  const isUnknown = isHelp && entry.kind === 'group' && left.length > 0
  if ((isHelp && !isUnknown) || front.wantsHelp) return await printHelp(path, entry, context)
  if (entry.kind === 'group') {
    if (left[0] === '--help' || left[0] === '-h') return await printHelp(path, entry, context)
    throw await unknownCommand(path, entry, left, context)
  }
  return await runCommand(path, entry, { front, left }, context)
}

async function runCommand(
  path: readonly string[],
  entry: CommandEntry,
  { front, left }: { readonly front: Typed; readonly left: readonly string[] },
  context: ProcessContext,
): Promise<number> {
  const definition = await entry.load()
  const own = divide(left, definition.options)
  if (own.wantsHelp) return await printHelp(path, entry, context)
  const typed = { ...own, options: new Map([...front.options, ...own.options]) }
  const values = valuesOf(typed, definition)
  warnOfSecrets(typed, definition.options, context)
  return (await definition.run(values, { ...context, program: PROGRAM })) ?? EXIT.ok
}

/** The command or group that the first arguments name, and the arguments behind them. */
function entryOf(args: readonly string[]) {
  let entry: CommandEntry | Group = PROGRAM
  const path: string[] = []
  for (const arg of args) {
    if (entry.kind === 'command') break
    const next: CommandEntry | Group | undefined = entry.entries.find(({ name }) => name === arg)
    if (next === undefined) break
    entry = next
    path.push(arg)
  }
  return { path, entry, left: args.slice(path.length) }
}

/** The error for a group without a command, or with one that it does not have. (command-line/2) */
async function unknownCommand(
  path: readonly string[],
  group: Group,
  [typed]: readonly string[],
  { terminal }: ProcessContext,
): Promise<UsageError> {
  const program = ['heliograph', ...path].join(' ')
  if (typed === undefined) {
    const { helpLines } = await import('./help.ts')
    const lines = await helpLines(path, group, terminal.progressScreen()?.columns)
    for (const line of lines) terminal.printDiagnostic(line)
    return new UsageError('name a command')
  }
  const names = group.entries.map(({ name }) => name)
  const similar = similarTo(typed, names)
  const hint =
    similar === undefined ? `\`${program} --help\` lists them` : `did you mean ${similar}?`
  return new UsageError(`unknown command; ${hint}`)
}

/** Warns of secrets in options, which other users can read in the list of processes. */
function warnOfSecrets(
  { options }: Typed,
  definitions: Options,
  { terminal }: ProcessContext,
): void {
  for (const name of options.keys()) {
    if (definitions[name]?.isSecret !== true) continue
    const better = [definitions[name].variable, optionName(`${name}File`)].filter(Boolean)
    terminal.printDiagnostic(
      `warning: ${optionName(name)} shows in the list of processes; use ${better.join(' or ')}`,
    )
  }
}

async function printHelp(
  path: readonly string[],
  entry: CommandEntry | Group,
  { terminal }: ProcessContext,
): Promise<number> {
  const { helpLines } = await import('./help.ts') // command-line/3
  const lines = await helpLines(path, entry, terminal.screen()?.columns)
  for (const line of lines) terminal.print(line)
  return EXIT.ok
}

async function printVersion({ terminal }: ProcessContext): Promise<number> {
  const { createRequire } = await import('node:module')
  const { version } = createRequire(import.meta.url)('#package') as { readonly version: string }
  terminal.print(version)
  return EXIT.ok
}

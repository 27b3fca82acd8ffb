// The whole command line: from arguments to an exit code. One verb a file.
//
// Invariants:
//   command-line/1. Exit codes: 0 done, 1 refused, 2 wrong usage.
//   command-line/2. No error repeats the value of an option or a superfluous argument: it may be a
//     secret.

import { Command, CommanderError } from 'commander'

import { addChannel } from './channel.ts'
import { addDemo } from './demo/demo.ts'
import { addDevCluster } from './dev-cluster.ts'
import { EXIT, endingOf } from './endings.ts'
import { addEvent } from './event.ts'
import { withAccess } from './options.ts'
import { addSend } from './send.ts'
import { addServe } from './serve.ts'
import { addStatus } from './status.ts'
import type { Surroundings } from './surroundings.ts'
import { addThing } from './thing.ts'
import { addWatch } from './watch.ts'

/**
 * Runs one command line, without the names of the programs in front. Gives the exit code.
 * (command-line/1)
 */
export async function runCommandLine(
  words: readonly string[],
  surroundings: Surroundings,
): Promise<number> {
  let exitCode: number = EXIT.ok
  const program = programOf(surroundings, (code) => {
    exitCode = code
  })
  try {
    await program.parseAsync(words, { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    const ending = endingOf(error)
    for (const line of ending.lines) surroundings.terminal.complain(line)
    return ending.exitCode
  }
}

function programOf(surroundings: Surroundings, end: (exitCode: number) => void): Command {
  const { terminal } = surroundings
  const program = new Command('heliograph')
    .description('Push gateway for Channels: run it, write to it, watch it.')
    .exitOverride()
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.complain(text.trimEnd()),
      outputError: (text, write) => write(withoutValues(text)),
    })
  withAccess(program)
  addServe(program, surroundings, end)
  addDemo(program, surroundings)
  addDevCluster(program, surroundings)
  addChannel(program, surroundings)
  addSend(program, surroundings)
  addEvent(program, surroundings)
  addThing(program, surroundings)
  addStatus(program, surroundings)
  addWatch(program, surroundings)
  return program
}

/** The sentence of a usage error without what the user typed as a value. (command-line/2) */
function withoutValues(text: string): string {
  return text
    .replace(/(unknown option '--[^=']*)=[^]*'/, "$1=…'")
    .replace(/(unknown option '-[^-])[^]*'/, "$1…'")
    .replace(/(unknown command) '[^]*?'(?=\n|$)/, '$1')
    .replace(/(argument) '[^]*' is invalid/, '$1 is invalid')
    .replace(/(but got \d+): [^]*$/, '$1.\n')
}

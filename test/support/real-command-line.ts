// Whole command lines against a real gateway.

import { runCommandLine } from '#src/cli/command-line'
import { processContext } from '#src/cli/process-context'
import { split } from '#test/support/command-line'
import { FakeProcessContext } from '#test/support/fake-process-context'

const NEVER = new AbortController().signal
const REAL = processContext()

export type Env = Readonly<Record<string, string | undefined>>

/** Runs a command line in this process, with real requests; Ctrl-C is never pressed. */
export async function runAt(words: string, env: Env, input = '') {
  const fake = new FakeProcessContext({ env, input, stopped: NEVER })
  const { fetch: ask, nowMs, monotonicMs, after } = REAL
  const exitCode = await runCommandLine(split(words), {
    env,
    fetch: ask,
    nowMs,
    monotonicMs,
    after,
    terminal: fake.terminal,
    readInput: fake.readInput,
    input: fake.input,
    serve: fake.serve,
    saveMemory: fake.saveMemory,
    untilStopped: fake.untilStopped,
  })
  return { exitCode, printed: fake.printed, diagnostics: fake.diagnostics }
}

/** The object that a line holds. */
export const json = (line: string | undefined): Readonly<Record<string, unknown>> =>
  JSON.parse(line ?? '{}') as Readonly<Record<string, unknown>>

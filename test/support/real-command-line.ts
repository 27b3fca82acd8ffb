// Whole command lines against a real gateway.

import { runCommandLine } from '#src/cli/command-line'
import { processSurroundings } from '#src/cli/surroundings'
import { split } from '#test/support/command-line'
import { FakeSurroundings } from '#test/support/fake-surroundings'

const NEVER = new AbortController().signal
const REAL = processSurroundings()

export type Env = Readonly<Record<string, string | undefined>>

/** Runs a command line in this process, with real requests; Ctrl-C is never pressed. */
export async function runAt(words: string, env: Env, input = '') {
  const fake = new FakeSurroundings({ env, input, stopped: NEVER })
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
    untilStopped: fake.untilStopped,
  })
  return { exitCode, printed: fake.printed, complaints: fake.complaints }
}

/** The object that a line holds. */
export const json = (line: string | undefined): Readonly<Record<string, unknown>> =>
  JSON.parse(line ?? '{}') as Readonly<Record<string, unknown>>

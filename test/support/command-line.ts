// Whole command lines, run against a recorded fetch.

import { runCommandLine } from '#src/cli/command-line'
import { FakeProcessContext } from '#test/support/fake-process-context'
import type { FakeOptions } from '#test/support/fake-process-context'

export const CHANNEL = '01234567890123456789012344'

export const PASSWORD = 'hunter2-hunter2'

export const TOKEN = 'gateway-token-of-the-test'

export const ENV = { HELIOGRAPH_CHANNEL: CHANNEL, HELIOGRAPH_PASSWORD: PASSWORD }

export async function run(words: string, options: FakeOptions = {}) {
  const context = new FakeProcessContext({ env: ENV, ...options })
  const exitCode = await runCommandLine(split(words), context)
  return { context, exitCode }
}

/** Words as a shell divides them, with single quotes. */
export const split = (words: string): readonly string[] =>
  [...words.matchAll(/(?:[^\s']|'[^']*')+/g)].map(([word]) => word.replaceAll("'", ''))

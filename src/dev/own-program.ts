// This program as a child process: the same file, run by the same Node with the same flags; and the
// wait for the signal that ends a command.

import { fileURLToPath } from 'node:url'

import type { Env } from '#src/config/environment'

/** The arguments of Node for a gateway that stops once its standard input ends. */
export const serveWhileStdin = (): readonly string[] => [
  ...process.execArgv,
  fileURLToPath(import.meta.resolve('#src/cli/heliograph')),
  'serve',
  '--while-stdin',
]

const SETTING = /^(SERVICE|HELIOGRAPH)_/

/** The environment without settings of other gateways and of this command line. */
export const withoutSettings = (env: Env): Env =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !SETTING.test(name)))

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

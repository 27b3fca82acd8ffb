// This program as a child process: the same file, run by the same Node with the same flags.

import { fileURLToPath } from 'node:url'

/** The arguments of Node for a gateway that stops once its standard input ends. */
export const serveWhileStdin = (): readonly string[] => [
  ...process.execArgv,
  fileURLToPath(import.meta.resolve('#src/cli/heliograph')),
  'serve',
  '--while-stdin',
]

// heliograph serve: runs a gateway in this process, as `npm start` does.

import { command, flag } from '#src/cli/command'

export const serve = command({
  description:
    'Runs a gateway until it is stopped. Its settings are environment variables, or .env in the ' +
    'working directory; docs/settings.md has all of them.',
  options: { whileStdin: flag('stop when the standard input ends', { isHidden: true }) },
  examples: ['serve'],
  async run({ whileStdin }, context) {
    if (whileStdin === true) stopWithStdin()
    const exitCode = await context.serve(context.env)
    // The process would not end while it reads its standard input.
    if (whileStdin === true) process.stdin.pause()
    return exitCode
  },
})

/** Stops the gateway when the process that started it ends, even when a signal kills that one. */
function stopWithStdin(): void {
  process.stdin.once('end', () => process.kill(process.pid, 'SIGTERM')).resume()
}

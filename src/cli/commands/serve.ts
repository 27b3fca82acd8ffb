// heliograph serve: a gateway in this process, the same as `npm start`.

import { command, flag } from '#src/cli/command'

export const serve = command({
  description:
    'Runs a gateway until it is stopped. Its settings are environment variables, or .env in the ' +
    'working directory; the README has the table.',
  options: { whileStdin: flag('stop when the standard input ends', { isHidden: true }) },
  examples: ['serve'],
  async run({ whileStdin }, context) {
    if (whileStdin === true) stopWithStdin()
    const exitCode = await context.serve(context.env)
    // A process that still reads its standard input does not end.
    if (whileStdin === true) process.stdin.pause()
    return exitCode
  },
})

/** Stops a gateway with the process that started it, even when that one is killed. */
function stopWithStdin(): void {
  process.stdin.once('end', () => process.kill(process.pid, 'SIGTERM')).resume()
}

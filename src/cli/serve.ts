// heliograph serve: a gateway in this process, the same as `npm start`.

import { Option } from 'commander'
import type { Command } from 'commander'

import type { Surroundings } from './surroundings.ts'

/** Gives the exit code of the gateway to `end`. */
export function addServe(
  program: Command,
  surroundings: Surroundings,
  end: (exitCode: number) => void,
): void {
  program
    .command('serve')
    .summary('run a gateway')
    .description(
      'Runs a gateway until it is stopped. Its settings are environment variables, or .env.',
    )
    .addOption(new Option('--while-stdin', 'stop when the standard input ends').hideHelp())
    .action(async ({ whileStdin }: { readonly whileStdin?: boolean }) => {
      if (whileStdin === true) stopWithStdin()
      end(await surroundings.serve(surroundings.env))
      // A process that still reads its standard input does not end.
      if (whileStdin === true) process.stdin.pause()
    })
}

/** For a gateway that belongs to another process, which may end without a word. */
function stopWithStdin(): void {
  process.stdin.once('end', () => process.kill(process.pid, 'SIGTERM')).resume()
}

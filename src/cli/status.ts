// heliograph status: the record of an operation.

import type { Command } from 'commander'

import { withAccess } from './options.ts'
import type { AccessOptions } from './options.ts'
import type { Surroundings } from './surroundings.ts'
import { talk } from './talk.ts'

export function addStatus(program: Command, surroundings: Surroundings): void {
  withAccess(program.command('status'))
    .summary('show the status of an operation')
    .description('Shows the record of an operation: its status, and why it failed if it did.')
    .argument('<op_id>', 'the op_id from the answer to the submission')
    .action(async (opId: string, options: AccessOptions, command: Command) => {
      const { client, report } = talk(options, command, surroundings)
      report(await client.status(opId))
    })
}

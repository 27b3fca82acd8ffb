// heliograph status: shows the record of an operation.

import type { OperationRecord } from '#src/client/bodies'
import { ACCESS } from '#src/cli/access'
import { CommandError, EXIT } from '#src/cli/endings'
import { commandClientOf, recordOf } from '#src/cli/command-client'
import { whole } from '#src/cli/values'
import { command, flag, parameter, withDefault } from '#src/cli/command'

const TIMEOUT_S = 30
const TIMEOUT_MAX_S = 86_400

export const status = command({
  description:
    'Shows the record of an operation: its status, and the error code of a failure. With --wait ' +
    'it ends when the operation does: with exit code 0 for sent, 1 for failed or partially ' +
    'failed, 7 after the timeout.',
  parameters: { opId: parameter('<op_id>', 'the op_id from the answer to the submission') },
  options: {
    wait: flag('waits until the operation has ended'),
    timeout: withDefault(whole('<seconds>', 1, TIMEOUT_MAX_S, 'the longest wait'), TIMEOUT_S),
    ...ACCESS,
  },
  examples: ['status 0019a9fcb6b29-9d2a', 'status 0019a9fcb6b29-9d2a --wait --timeout 10'],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context, { sendsSecrets: false })
    const { opId, wait, timeout } = options
    if (wait !== true) {
      report(await client.status(opId))
      return EXIT.ok
    }
    const record = await recordOf(
      { client, opId },
      { isOver: hasEnded, timeoutS: timeout },
      context,
    )
    report(record)
    if (hasEnded(record)) return record.status === 'sent' ? EXIT.ok : EXIT.refused
    throw new CommandError(`${timeout} s are over, and the operation goes on`, EXIT.timeout)
  },
})

const ENDINGS: ReadonlySet<string> = new Set(['sent', 'partially_failed', 'failed', 'cancelled'])

const hasEnded = ({ status: reached }: OperationRecord): boolean => ENDINGS.has(reached)

// heliograph status: shows the record of an operation.

import type { OperationRecord } from '#src/client/bodies'
import type { Client } from '#src/client/client'
import { pause } from '#src/client/runtime'
import { ACCESS } from '#src/cli/access'
import { CommandError, EXIT } from '#src/cli/endings'
import type { ProcessContext } from '#src/cli/process-context'
import { commandClientOf } from '#src/cli/command-client'
import { whole } from '#src/cli/values'
import { command, flag, parameter, withDefault } from '#src/cli/command'

const TIMEOUT_S = 30
const TIMEOUT_MAX_S = 86_400
const POLL = { firstMs: 50, maxMs: 2_000 }

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
    const record = await lastOf(client, opId, timeout, context)
    report(record)
    if (hasEnded(record)) return record.status === 'sent' ? EXIT.ok : EXIT.refused
    throw new CommandError(`${timeout} s are over, and the operation goes on`, EXIT.timeout)
  },
})

/** The record of an operation once it has ended, or after the timeout. */
async function lastOf(
  client: Client,
  opId: string,
  timeoutS: number,
  context: ProcessContext,
): Promise<OperationRecord> {
  const endMs = context.monotonicMs() + timeoutS * 1000
  for (let delayMs = POLL.firstMs; ; delayMs *= 1.5) {
    const record = await client.status(opId)
    const leftMs = endMs - context.monotonicMs()
    if (hasEnded(record) || leftMs <= 0) return record
    await pause(context, Math.min(delayMs, POLL.maxMs, leftMs), undefined)
  }
}

const ENDINGS: ReadonlySet<string> = new Set(['sent', 'partially_failed', 'failed', 'cancelled'])

const hasEnded = ({ status: reached }: OperationRecord): boolean => ENDINGS.has(reached)

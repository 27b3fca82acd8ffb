// heliograph status: the record of an operation.

import { ACCESS } from '#src/cli/access'
import { talk } from '#src/cli/talk'
import { parameter, word } from '#src/cli/word'

export const status = word({
  description: 'Shows the record of an operation: its status, and why it failed if it did.',
  parameters: { opId: parameter('<op_id>', 'the op_id from the answer to the submission') },
  options: ACCESS,
  examples: ['status 0019a9fcb6b29-9d2a'],
  async run(options, context) {
    const { client, report } = await talk(options, context)
    report(await client.status(options.opId))
  },
})

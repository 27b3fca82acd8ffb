// heliograph dead-letter: list, retry.

import type { DeadLetter } from '#src/client/bodies'
import { HeliographError } from '#src/client/error'
import { ACCESS } from '#src/cli/access'
import { command, flag, optional } from '#src/cli/command'
import { commandClientOf } from '#src/cli/command-client'
import { CommandError, UsageError } from '#src/cli/endings'
import { dateText } from '#src/cli/terminal-text'
import { LISTED, eachPage, list as listPages } from '#src/cli/paging'

export const list = command({
  description:
    'Lists submissions that were set aside, each with the reason: a defect, or a database that ' +
    'refused its rows. The gateway has to have a token, which this command proves.',
  options: { ...LISTED, ...ACCESS },
  examples: ['dead-letter list --all'],
  async run(options, context) {
    const { client } = await commandClientOf(options, context)
    const listing = {
      page: client.deadLetters.list,
      headings: ['ID', 'ACCEPTED', 'ERROR', 'SUBMISSION'],
      cells: ({ dead_letter_id: number, at, error, payload }: DeadLetter) => [
        String(number),
        dateText(at),
        error,
        payload,
      ],
    }
    await listPages(listing, options, context)
  },
})

const EVERY = { limit: undefined, cursor: undefined }

/** Refusals of one dead letter, which do not keep the others from being tried. */
const SKIPPED: readonly string[] = ['dead_letter_not_found', 'dead_letter_unreadable']

export const retry = command({
  description:
    'Tries a submission again that was set aside, or all of them, oldest first. Each is accepted ' +
    'anew with an op_id of its own, and has one effect however often it is tried.',
  parameters: { id: optional('[id]', 'the number, from `heliograph dead-letter list`') },
  options: { all: flag('tries all of them'), ...ACCESS },
  examples: ['dead-letter retry 17', 'dead-letter retry --all'],
  async run(options, context) {
    const { id, all } = options
    if ((id === undefined) === (all !== true)) throw new UsageError('give an id, or --all')
    const { client, report } = await commandClientOf(options, context)
    if (id !== undefined)
      return report(await client.deadLetters.retry({ dead_letter_id: Number(id) }))
    // One that fails again is set aside anew, behind the others: only those of now are tried.
    const ids: number[] = []
    await eachPage(client.deadLetters.list, { ...EVERY, all }, context, (items) => {
      for (const { dead_letter_id } of items) ids.push(dead_letter_id)
    })
    let left = 0
    for (const dead_letter_id of ids) {
      try {
        report(await client.deadLetters.retry({ dead_letter_id }))
      } catch (error) {
        if (!(error instanceof HeliographError && SKIPPED.includes(error.code))) throw error
        context.terminal.printDiagnostic(`${dead_letter_id}: ${error.code}`)
        left += 1
      }
    }
    if (left > 0) throw new CommandError(`${left} of ${ids.length} could not be tried again`)
    return undefined
  },
})

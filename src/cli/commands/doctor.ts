// heliograph doctor: checks a server, and names a remedy for each problem.

import { CHANNEL, credentialsOf } from '#src/cli/access'
import type { ChannelGiven, Credentials } from '#src/cli/access'
import { examine } from '#src/cli/doctor/examine'
import type { Finding } from '#src/cli/doctor/finding'
import { EXIT, UsageError } from '#src/cli/endings'
import { onOneLine } from '#src/cli/terminal-text'
import type { ProcessContext } from '#src/cli/process-context'
import { commandClientOf } from '#src/cli/command-client'
import { command } from '#src/cli/command'

export const doctor = command({
  description:
    'Examines a server from this computer: name, connection, certificate, health, clock, each ' +
    'carrier for devices, and the channel when one is given. Names each problem and its ' +
    'remedy. Ends with exit code 1 when there is a problem.',
  options: CHANNEL,
  examples: ['doctor --url https://push.example', 'doctor --json'],
  async run(options, context) {
    const credentials = await namedChannel(options, context)
    const { client, access } = await commandClientOf(options, context, {
      sendsSecrets: credentials !== undefined,
    })
    const isColored = context.terminal.screen()?.hasColor === true
    let exitCode: number = EXIT.ok
    for await (const finding of examine({ client, access, credentials }, context)) {
      context.terminal.print(
        access.json ? JSON.stringify(finding) : findingLine(finding, isColored),
      )
      if (finding.result === 'problem') exitCode = EXIT.refused
    }
    return exitCode
  },
})

/** The channel where a source gives both it and its password; else undefined. */
async function namedChannel(
  options: ChannelGiven,
  context: ProcessContext,
): Promise<Credentials | undefined> {
  try {
    return await credentialsOf(options, context)
  } catch (error) {
    if (error instanceof UsageError && options.channel === undefined) return undefined
    throw error
  }
}

const COLORS = { ok: '32', warning: '33', problem: '31', skipped: '2' } as const

function findingLine({ check, result, detail, hint }: Finding, isColored: boolean): string {
  const label = result.padEnd('problem'.length)
  const shown = isColored ? `\u001b[${COLORS[result]}m${label}\u001b[0m` : label
  const text = hint === undefined ? detail : `${detail}; ${hint}`
  return `${shown}  ${check.padEnd('certificate'.length)}  ${onOneLine(text)}`
}

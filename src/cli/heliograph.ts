#!/usr/bin/env node
// Process edge of the command line.

import { nodeRefusal } from '#src/config/environment'
import { runCommandLine } from './command-line.ts'
import { processContext } from './process-context.ts'

const refusal = nodeRefusal(process.versions.node)
if (refusal === undefined) {
  process.exitCode = await runCommandLine(process.argv.slice(2), processContext())
} else {
  console.error(refusal)
  process.exitCode = 1
}

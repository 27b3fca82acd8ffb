#!/usr/bin/env node
// Process edge of the command line.

import { runCommandLine } from './command-line.ts'
import { processSurroundings } from './surroundings.ts'

process.exitCode = await runCommandLine(process.argv.slice(2), processSurroundings())

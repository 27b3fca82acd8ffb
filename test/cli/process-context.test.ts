// Goal: one Ctrl-C stops a command gently, also when it arrives twice; a second one ends it at once.
// Method: a process sends signals to itself, so that nothing comes between them.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import test from 'ava'

const PROCESS_CONTEXT = new URL('../../src/cli/process-context.ts', import.meta.url).href
const LATER_MS = 350

async function endOf(signals: string): Promise<string> {
  const script = `
    import { processContext } from '${PROCESS_CONTEXT}'
    const stopped = processContext().untilStopped()
    const later = () => new Promise((resolve) => setTimeout(resolve, ${LATER_MS}))
    const press = () => process.emit('SIGINT', 'SIGINT')
    ${signals}
    process.stdout.write(stopped.aborted ? 'stopping' : 'running')
    process.exit(0)`
  const run = promisify(execFile)(process.execPath, [
    ...process.execArgv,
    '--input-type=module',
    '-e',
    script,
  ])
  return run.then(
    ({ stdout }) => stdout,
    (error: unknown) =>
      typeof error === 'object' && error !== null && 'code' in error
        ? `exit code ${String(error.code)}`
        : 'no exit code',
  )
}

const rows: [signals: string, ending: string][] = [
  ['', 'running'],
  ['press()', 'stopping'],
  ['press(); press()', 'stopping'],
  ['press(); await later()', 'stopping'],
  ['press(); await later(); press()', 'exit code 1'],
]

test('a second Ctrl-C ends the process at once, an echo of the first does not', async (t) => {
  for (const [signals, ending] of rows) t.is(await endOf(signals), ending, signals)
})

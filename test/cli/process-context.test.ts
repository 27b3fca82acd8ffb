// Goal: one Ctrl-C stops a command gently, also when it arrives twice; a second one ends it at once.
// An output that takes nothing more is told, one that nobody reads any more is not.
// A line of progress replaces the one before, on terminals alone.
// Method: a process sends signals to itself, so that nothing comes between them.

import { execFile, spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { promisify } from 'node:util'

import test from 'ava'

import { terminalOver } from '#src/cli/process-context'

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

const onLinux = process.platform === 'linux' ? test : test.skip
onLinux('a full disk behind the standard output is told, and ends with 1', (t) => {
  const full = openSync('/dev/full', 'w')
  t.teardown(() => closeSync(full))
  const script = `
    import { processContext } from '${PROCESS_CONTEXT}'
    processContext().terminal.print('lost')`
  const words = [...process.execArgv, '--input-type=module', '-e', script]
  const { status, stderr } = spawnSync(process.execPath, words, { stdio: ['ignore', full, 'pipe'] })
  t.is(status, 1)
  t.regex(stderr.toString(), /^error: the output is lost: ENOSPC.*\n$/)
})

const outputs: [output: string, isTTY: boolean, drawn: string][] = [
  ['a terminal', true, '\r\u001b[2K1 line\r\u001b[2K'],
  ['a pipe', false, ''],
]

for (const [output, isTTY, drawn] of outputs) {
  test(`a line of progress on ${output}`, (t) => {
    const written: string[] = []
    const write = (text: string | Uint8Array) => written.push(String(text))
    const stderr = { isTTY, columns: 80, rows: 24, write }
    const terminal = terminalOver({ stdout: stderr, stderr }, true)
    for (const line of ['1 line', '']) terminal.drawProgress(line)
    t.is(written.join(''), drawn)
  })
}

test('a terminal that does not know its size has 80 columns and 24 rows', (t) => {
  const sized = (width: number, height: number) => {
    const output = { isTTY: true, columns: width, rows: height, write: () => true }
    return terminalOver({ stdout: output, stderr: output }, false)
  }
  for (const [width, height, screen] of [
    [120, 40, { columns: 120, rows: 40, hasColor: false }],
    // That of a container or of `script`, which a table could put nothing into.
    [0, 0, { columns: 80, rows: 24, hasColor: false }],
  ] as const) {
    t.deepEqual(sized(width, height).screen(), screen)
    t.deepEqual(sized(width, height).progressScreen(), screen)
  }
})

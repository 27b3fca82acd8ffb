// Method: a log writes to the standard output of its process, so a process is started that logs.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import test from 'ava'

const ROOT = new URL('../..', import.meta.url).pathname

interface Line {
  readonly time: string
}

/** The lines that a process writes in which `log` stands for a log of this level. */
async function linesOf(level: string, statements: string): Promise<readonly Line[]> {
  const program = `
    const { createLogger } = await import('#src/telemetry/logger')
    const log = createLogger({ level: '${level}', base: { node: 'n1' } })
    ${statements}
  `
  const flags = [...process.execArgv, '--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd: ROOT })
  const lines = stdout.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as Line)
}

test('a fact is one JSON line with its fields, and the last line is not lost', async (t) => {
  const lines = await linesOf(
    'info',
    `
      log.debug('too quiet')
      log.info('listening', { port: 8080 })
      log.warn('slow')
      log.error('the last words', { error: 'x' })
      process.exit(0)
    `,
  )
  t.is(lines.length, 3)
  t.like(lines[0], { level: 30, node: 'n1', fact: 'listening', port: 8080 })
  t.like(lines[1], { level: 40, node: 'n1', fact: 'slow' })
  t.like(lines[2], { level: 50, fact: 'the last words', error: 'x' })
  t.regex(lines[0]?.time ?? '', /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
})

test('a log that is silent says nothing', async (t) => {
  t.deepEqual(await linesOf('silent', `log.error('nobody hears this')`), [])
})

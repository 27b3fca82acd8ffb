// Goal: a shell knows the commands, the options and the values of the command line.
// Method: bash itself completes lines; zsh and fish check their scripts where they are installed.

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import test from 'ava'

import { completionPointsOf } from '#src/cli/completion/completion-points'
import { PROGRAM } from '#src/cli/table'
import { run } from '#test/support/command-line'

async function scriptOf(shell: string): Promise<string> {
  const { context, exitCode } = await run(`completion ${shell}`)
  return exitCode === 0 ? context.printed.join('\n') : ''
}

function bashReplies(script: string, line: string): readonly string[] {
  const words = line.split(' ')
  const ask = `${script}
    COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
    COMP_CWORD=${words.length - 1}
    _heliograph
    printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-c', ask], { encoding: 'utf8', cwd: '/' }).trim().split('\n')
}

const rows: [line: string, replies: readonly string[]][] = [
  ['heliograph st', ['status']],
  ['heliograph thing ar', ['archive']],
  ['heliograph thing update x --obs', ['--observed-at']],
  ['heliograph send --severity ', ['critical', 'high', 'normal', 'low']],
  ['heliograph send --severity h', ['high']],
  ['heliograph send --title se', ['']],
  ['heliograph send --title send --se', ['--severity']],
  ['heliograph config set to', ['token', 'token_file']],
  ['heliograph completion f', ['fish']],
  ['heliograph status --token-file /et', ['/etc']],
]

test('bash completes commands, options, values and files', async (t) => {
  const script = await scriptOf('bash')
  for (const [line, replies] of rows) t.deepEqual(bashReplies(script, line), replies, line)
})

test('each script knows every command and every option', async (t) => {
  const points = await completionPointsOf(PROGRAM)
  const names = points.flatMap(({ commands, options }) =>
    [...commands, ...options].map(({ name }) => name),
  )
  t.true(names.length > 100)
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-completion-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  for (const shell of ['bash', 'zsh', 'fish']) {
    const script = await scriptOf(shell)
    for (const name of new Set(names)) {
      t.true(
        script.includes(shell === 'fish' ? name.replace(/^--/, '-l ') : name),
        `${shell} ${name}`,
      )
    }
    const file = join(folder, shell)
    writeFileSync(file, script)
    if (spawnSync(shell, ['--version']).error === undefined) {
      t.notThrows(() => execFileSync(shell, ['-n', file], { stdio: 'pipe' }), shell)
    }
  }
})

test('completion refuses an unknown shell', async (t) => {
  const { exitCode, context } = await run('completion tcsh')
  t.is(exitCode, 2)
  t.deepEqual(context.diagnostics, ['error: <shell>: allowed: bash, zsh, fish'])
})

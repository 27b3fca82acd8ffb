// Puts the programs that other people wrote, with which tests look at the gateway, where the tests
// look for them: `npm run clients`. It needs Python 3 with venv, npm, and the package indexes that
// pip and npm know; it fetches nothing but packages.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { CLIENTS_FOLDER, clientProgram } from '#test/support/clients/programs'

const OF_PYTHON = new URL('requirements.txt', import.meta.url).pathname
/** What names a newer Python than it needs. */
const OF_ANY_PYTHON = ['aiontfy==0.8.6']
/** With a quarter of the packages of all. */
const OF_CLIENTS_ALL = ['schemathesis==4.32.5']
const OF_NPM = ['@redocly/cli@2.77.0', '@stoplight/spectral-cli@6.16.3']

const WANTED = JSON.stringify([readFileSync(OF_PYTHON, 'utf8'), OF_ANY_PYTHON, OF_NPM])
const INSTALLED = join(CLIENTS_FOLDER, 'installed.json')

/** True when the folder has what is wanted in these versions. */
const isInstalled = (): boolean =>
  existsSync(INSTALLED) && readFileSync(INSTALLED, 'utf8') === WANTED

const run = (program: string, ...words: readonly string[]): unknown =>
  execFileSync(program, words, { stdio: 'inherit' })

/** The script `pip` of a folder that was copied would install into the one that it came from. */
const pip = (...words: readonly string[]): unknown => {
  const quiet = ['--quiet', '--disable-pip-version-check']
  // Compiling all of it takes half of the time; what is imported is compiled then.
  const options = [...quiet, '--no-compile']
  return run(clientProgram('python'), '-m', 'pip', 'install', ...options, ...words)
}

if (!isInstalled()) {
  rmSync(CLIENTS_FOLDER, { recursive: true, force: true })
  run('python3', '-m', 'venv', CLIENTS_FOLDER)
  pip('-r', OF_PYTHON)
  pip('--no-deps', '--ignore-requires-python', ...OF_ANY_PYTHON)
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  run('npm', 'install', '--prefix', CLIENTS_FOLDER, ...quiet, ...OF_NPM)
  writeFileSync(INSTALLED, WANTED)
}
if (process.argv.includes('--all')) pip(...OF_CLIENTS_ALL)

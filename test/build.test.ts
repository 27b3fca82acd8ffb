// Method: the script that npm runs after an installation and before a start, in a folder that has
// of a clone what the case says. Where the compiler is there, every test of the package runs it.

import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import test from 'ava'
import type { ExecutionContext } from 'ava'

const SCRIPT = '.ci/build-if-possible.js'
const BUILT = 'dist/src/main.js'
const COMPILER = 'node_modules/typescript/package.json'

interface Ended {
  readonly code: number
  readonly said: string
}

/** Runs the script as npm does for `event`, in a folder with these files. */
async function runIn(
  t: ExecutionContext,
  event: string,
  files: Readonly<Record<string, string>>,
): Promise<Ended> {
  const folder = await mkdtemp(join(tmpdir(), 'heliograph-build-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await cp(new URL(`../${SCRIPT}`, import.meta.url), join(folder, SCRIPT))
  for (const [name, text] of Object.entries({ 'package.json': '{ "type": "module" }', ...files })) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  const env = { ...process.env, npm_lifecycle_event: event }
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [...process.execArgv, SCRIPT],
      { cwd: folder, env },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), said: stdout + stderr }),
    )
  })
}

test('an installation without development dependencies ends well and names the command to run', async (t) => {
  const { code, said } = await runIn(t, 'prepare', {})
  t.is(code, 0)
  t.regex(said, /`npm start` needs `dist`: run `npm ci --include=dev`/)
})

test('a start without anything built ends with the same words', async (t) => {
  const { code, said } = await runIn(t, 'prestart', {})
  t.is(code, 1)
  t.regex(said, /Nothing is built/)
})

for (const event of ['prepare', 'prestart']) {
  test(`${event} leaves the build as it is where there is no compiler`, async (t) => {
    t.deepEqual(await runIn(t, event, { [BUILT]: '' }), { code: 0, said: '' })
  })

  test(`${event} builds where there is a compiler, and fails with it`, async (t) => {
    const scripts = (build: string): string =>
      JSON.stringify({ type: 'module', scripts: { build } })
    const whole = { [COMPILER]: '{}', 'package.json': scripts('echo built') }
    t.deepEqual(await runIn(t, event, whole), { code: 0, said: 'built\n' })
    const broken = { [COMPILER]: '{}', 'package.json': scripts('exit 2') }
    t.is((await runIn(t, event, broken)).code, 1)
  })
}

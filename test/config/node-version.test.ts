// Goal: a Node that is too old is named, and a way out; nobody reads a stack trace.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import test from 'ava'

import { nodeRefusal } from '#src/config/environment'

test('a Node before 22 is refused with the way to a newer one', (t) => {
  for (const version of ['18.20.4', '20.20.2', '21.7.3']) {
    t.regex(nodeRefusal(version) ?? '', new RegExp(`needs Node 22.*${version}.*npx heliograph`))
  }
  for (const version of ['22.0.0', '22.23.3', '100.1.0']) t.is(nodeRefusal(version), undefined)
})

/** Runs before the program, which then takes this Node for an older one. */
const OLDER = `data:text/javascript,${encodeURIComponent(`
  const versions = { ...process.versions, node: '20.20.2' }
  Object.defineProperty(process, 'versions', { value: versions })
`)}`

for (const program of ['#src/main', '#src/cli/heliograph']) {
  test(`${program} says so in one sentence and ends`, (t) => {
    const file = fileURLToPath(import.meta.resolve(program))
    const words = [...process.execArgv, '--import', OLDER, file]
    const { status, stdout, stderr } = spawnSync(process.execPath, words, {
      encoding: 'utf8',
      env: { SERVICE_HTTP_ADDR: 'none' }, // A gateway that begins all the same ends at once.
    })
    t.is(status, 1)
    t.is(stdout, '')
    t.is(stderr, `${nodeRefusal('20.20.2')}\n`)
  })
}

// Goal: the console stays small, and its page runs under the policy that it is served with.
// Method: build it into a folder of the test's own.

import { execFile } from 'node:child_process'
import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import test from 'ava'

import { temporaryFolder } from '#test/support/gateway'

const BUILD = new URL('../../.ci/build-console.js', import.meta.url).pathname
/** Script and style over the wire, as the browser that asks for gzip gets them. */
const WIRE_BYTES_MAX = 100 * 1024

test('script and style take at most 100 KB compressed, and the page has nothing inline', async (t) => {
  const folder = join(await temporaryFolder(t), 'console')
  // Not the flags of this process: the script is JavaScript.
  await promisify(execFile)('node', [BUILD, folder])
  const names = await readdir(folder)
  const sent = names.filter((name) => /\.(js|css)\.gz$/.test(name))
  const sizes = await Promise.all(sent.map(async (name) => (await stat(join(folder, name))).size))
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  t.log(`${bytes} bytes`)
  t.true(bytes > 10_000 && bytes <= WIRE_BYTES_MAX, `${bytes} bytes`)
  t.deepEqual(
    names.filter((name) => name.endsWith('.br')).length,
    names.filter((name) => name.endsWith('.gz')).length,
  )
  const page = await readFile(join(folder, 'index.html'), 'utf8')
  t.regex(page, /<script type="module" src="main-[A-Z0-9]{8}\.js">/)
  t.notRegex(page, /<style|style=|\son\w+=|<script(?![^>]*\ssrc=)/)
  for (const name of page.matchAll(/(?:src|href)="([^"]+)"/g)) t.true(names.includes(name[1] ?? ''))
})

// Goal: a short command loads little, so that it ends as soon as its request.
// Method: what its files import before a request goes out, followed from file to file, and what a
// real run has loaded of Node.

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

import test from 'ava'

import { ENV } from '#test/support/command-line'

const ROOT = new URL('../..', import.meta.url).pathname
const IMPORT = /^(?:import|export) (?!type )(?:[^'()=]* from )?'([^']+)'/gm
const FOLDERS: Readonly<Record<string, string>> = { '#domain': 'src/domain', '#src': 'src' }
const FILES_MAX = 27

/** The files of ours that a file loads at once, itself among them, and the modules of others. */
function loadedWith(file: string, seen: Set<string>): Set<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  for (const [, specifier = ''] of readFileSync(join(ROOT, file), 'utf8').matchAll(IMPORT)) {
    const [, alias = '', rest = ''] = /^(#\w+)\/(.*)$/.exec(specifier) ?? []
    if (specifier.startsWith('./')) loadedWith(join(dirname(file), specifier), seen)
    else if (alias in FOLDERS) loadedWith(`${FOLDERS[alias]}/${rest}.ts`, seen)
    else seen.add(specifier)
  }
  return seen
}

for (const command of ['send', 'thing', 'event', 'status']) {
  test(`command-line/3: \`${command}\` loads few files, and no library`, (t) => {
    const files = loadedWith('src/cli/heliograph.ts', new Set())
    loadedWith(`src/cli/commands/${command}.ts`, files)
    t.true(files.has('src/client/call.ts'))
    t.true(files.size <= FILES_MAX, [...files].join('\n'))
    // Others load all their parts when they are imported: node:fs that of promises, node:http fetch.
    t.deepEqual(
      [...files].filter((file) => !file.startsWith('src/') && file !== 'node:path'),
      [],
    )
  })
}

for (const command of ['watch', 'history', 'pull']) {
  test(`command-line/3: \`${command}\` without a passphrase does not load the encryption`, (t) => {
    const files = loadedWith(`src/cli/commands/${command}.ts`, new Set())
    t.true(files.has('src/cli/decrypter.ts'))
    t.deepEqual(
      [...files].filter((file) => file.endsWith('/encryption.ts')),
      [],
    )
  })
}

test('a sent Message loads neither fetch nor streams of files', async (t) => {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json')
      response.end('{"success": true, "data": {"op_id": "o"}}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const hook = `process.on('exit', () => console.log(process.moduleLoadList.join('\\n')))`
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      ...process.execArgv,
      '--import',
      `data:text/javascript,${encodeURIComponent(hook)}`,
      join(ROOT, 'src/cli/heliograph.ts'),
      'send',
      '--title',
      't',
      '--url',
      `http://127.0.0.1:${port}`,
    ],
    { env: { ...process.env, ...ENV }, cwd: '/' },
  )
  t.regex(stdout, /^op_id {2}o$/m)
  t.regex(stdout, /NativeModule _http_client/)
  t.notRegex(stdout, /undici|readline|fs\/streams/)
})

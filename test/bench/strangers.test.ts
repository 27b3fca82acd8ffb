import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import test from 'ava'

import { stamp } from './load/payload.ts'
import { temporaryFolder } from '#test/support/gateway'
import { STRANGERS, prepareStrangers } from './load/strangers.ts'
import { diskMbOf } from './rig/open-doors.ts'

const RECIPE = { token: 'token', channels: ['A'.repeat(26), 'B'.repeat(26)], clientId: 'client' }

for (const stranger of STRANGERS) {
  test(`a request of ${stranger} is valid HTTP, whenever it is due`, (t) => {
    for (const prepared of prepareStrangers({ ...RECIPE, stranger })) {
      const [head = '', body = ''] = stamp(prepared, 1, 987_654_321).toString().split('\r\n\r\n')
      t.regex(head, /^(GET|POST) \/\S+ HTTP\/1\.1\r\n/)
      t.true(head.includes(`content-length: ${Buffer.byteLength(body)}`))
      if (head.includes('application/json') && body !== '') t.notThrows(() => void JSON.parse(body))
    }
  })
}

// Method: what of a request is new with each use.
for (const [stranger, part] of [
  ['passwords', /"guess-1000000987654321"/],
  ['statuses', /\/send_status\/f{16}1000000987654321 /],
  ['metadata', /client_id=https%3A%2F%2Fc1000000987654321\.example%2F/],
  ['oauth', /(state=|Assistant |code=)1000000987654321/],
] as const) {
  test(`each use of a request of ${stranger} asks for something new`, (t) => {
    for (const prepared of prepareStrangers({ ...RECIPE, stranger })) {
      t.regex(stamp(prepared, 1, 987_654_321).toString(), part)
    }
  })
}

test('a flooded gateway asks no name server but that of the bench', async (t) => {
  const { href } = new URL('rig/mute-names.ts', import.meta.url)
  const asked = `import { Resolver } from 'node:dns/promises'
    console.log(new Resolver({ timeout: 1_000, tries: 2 }).getServers().join())`
  const options = { env: { ...process.env, HELIOGRAPH_NAME_SERVER: '127.0.0.1:5353' } }
  const words = [...process.execArgv, `--import=${href}`, '--input-type=module', '--eval', asked]
  const { stdout } = await promisify(execFile)(process.execPath, words, options)
  t.is(stdout.trim(), '127.0.0.1:5353')
})

test('the size of a folder is that of all files below it', async (t) => {
  const folder = await temporaryFolder(t)
  await mkdir(join(folder, 'inner'))
  await writeFile(join(folder, 'a'), Buffer.alloc(1_500_000))
  await writeFile(join(folder, 'inner', 'b'), Buffer.alloc(500_000))
  t.is(await diskMbOf(folder), 2)
})

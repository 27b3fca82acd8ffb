// A database that cannot be opened ends the start with a sentence that names its setting.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import test from 'ava'

import { startGateway, temporaryFolder } from '#test/support/gateway'

const ROWS: readonly (readonly [what: string, make: (path: string) => void, why: RegExp])[] = [
  ['no database', (path) => writeFileSync(path, 'a text\n'.repeat(200)), /file is not a database/],
  ['a folder', (path) => mkdirSync(path), /unable to open database file/],
]

for (const [what, make, why] of ROWS) {
  test(`a database file that is ${what} ends the start`, async (t) => {
    const directory = await temporaryFolder(t)
    const path = join(directory, 'mine.db')
    make(path)
    const env = { SERVICE_DATABASE_URL: `sqlite:${path}` }
    const error = await t.throwsAsync(startGateway(t, { directory, env }))
    t.regex(error?.message ?? '', /ended with 1: .*SERVICE_DATABASE_URL names .*mine\.db, which/)
    t.regex(error?.message ?? '', why)
  })
}

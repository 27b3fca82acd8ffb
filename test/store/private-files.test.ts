// Goal: nobody but the user of the gateway reads what it keeps, and no folder of others is closed.
// Method: modes of everything in the folder, after a start of a whole gateway or after one call.

import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import test from 'ava'

import { closeToOthers } from '#src/store/sqlite/private-files'
import { get, startGateway, temporaryFolder } from '#test/support/gateway'

const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8)

const modesIn = (folder: string): readonly (readonly [string, string])[] =>
  readdirSync(folder).map((name) => [name, modeOf(join(folder, name))] as const)

test('private-files/1: whatever the umask, data of a gateway is its own', async (t) => {
  const directory = await temporaryFolder(t)
  const database = join(directory, 'deep', 'data', 'gateway.db')
  const before = process.umask(0)
  const starting = startGateway(t, {
    directory,
    env: { SERVICE_DATABASE_URL: `sqlite:${database}` },
  })
  process.umask(before)
  const gateway = await starting
  const folders = [join(directory, 'deep'), join(directory, 'deep', 'data')]
  t.deepEqual(folders.map(modeOf), ['700', '700'])
  const files = modesIn(join(directory, 'deep', 'data'))
  t.true(files.length >= 8, JSON.stringify(files))
  for (const [name, mode] of files) t.is(mode, '600', name)
  t.false(gateway.lines.some(({ fact }) => fact?.includes('other users') === true))
})

test('private-files/2: a start closes files and a folder that others can reach', async (t) => {
  const folder = await temporaryFolder(t)
  const first = await startGateway(t, { directory: folder })
  await first.end('SIGKILL')
  chmodSync(folder, 0o755)
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o644)
  const gateway = await startGateway(t, { directory: folder })
  t.is((await get(gateway, '/readyz')).status, 200)
  t.is(modeOf(folder), '700')
  for (const [name, mode] of modesIn(folder)) t.is(mode, '600', name)
})

// Method: a folder with a database of mode 644; what else it is, and its mode afterwards.
for (const [what, mode, make, after] of [
  ['is its own', 0o755, () => {}, '700'],
  ['is its own, with every file', 0o777, (path: string) => makeAll(path), '700'],
  ['holds a file of somebody', 0o755, (path: string) => makeFileAt(`${path}.backup`), '755'],
  ['has a name like its own', 0o755, (path: string) => makeFileAt(`${path}-log-old`), '755'],
  ['is for everybody (sticky)', 0o1777, () => {}, '1777'],
  ['is closed', 0o700, (path: string) => makeFileAt(`${path}.backup`), '700'],
] as const) {
  test(`private-files/3: a folder that ${what} has mode ${after} afterwards`, async (t) => {
    const folder = join(await temporaryFolder(t), 'folder')
    mkdirSync(folder)
    const database = join(folder, 'gateway.db')
    makeFileAt(database)
    make(database)
    chmodSync(folder, mode)
    t.deepEqual(closeToOthers(database), after === '700' ? [] : [folder])
    t.deepEqual([modeOf(folder), modeOf(database)], [after, '600'])
  })
}

const makeFileAt = (path: string): void => {
  writeFileSync(path, '')
  chmodSync(path, 0o644)
}

function makeAll(database: string): void {
  for (const end of ['-wal', '-shm', '-log', '-log-wal', '-log-shm', '-lock', '-holder']) {
    makeFileAt(`${database}${end}`)
  }
}

test('the files behind a link are closed, and so is the log beside the link', async (t) => {
  const [there, here] = [await temporaryFolder(t), await temporaryFolder(t)]
  const files = [join(there, 'real.db'), join(there, 'real.db-wal'), join(here, 'link.db-log')]
  for (const file of files) makeFileAt(file)
  symlinkSync(join(there, 'real.db'), join(here, 'link.db'))
  t.deepEqual(closeToOthers(join(here, 'link.db')), [])
  t.deepEqual(files.map(modeOf), ['600', '600', '600'])
})

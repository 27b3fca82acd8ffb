// Goal: the lock of a SQLite database names its holder and leaves nothing behind. That it ends with its process is shown
// by stories/database-in-use.test.ts.

import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import test from 'ava'

import { DatabaseInUse, lockDatabase } from '#src/store/sqlite/lock'
import { temporaryFolder } from '#test/support/gateway'

test('sqlite-lock/1: a database is locked once, and again after it was released', async (t) => {
  const path = join(await temporaryFolder(t), 'gateway.db')
  const first = lockDatabase(path)
  t.throws(() => lockDatabase(path), { instanceOf: DatabaseInUse })
  first.release()
  lockDatabase(path).release()
})

test('sqlite-lock/3: a process without the lock has changed no file', async (t) => {
  const directory = await temporaryFolder(t)
  const path = join(directory, 'gateway.db')
  const first = lockDatabase(path)
  const filesNow = () => readdirSync(directory).map((name) => [name, read(directory, name)])
  const before = filesNow()
  t.throws(() => lockDatabase(path))
  t.deepEqual(filesNow(), before)
  first.release()
})

test('sqlite-lock/2: a second try of its own process ends no lock', async (t) => {
  const path = join(await temporaryFolder(t), 'gateway.db')
  const first = lockDatabase(path)
  t.throws(() => lockDatabase(path), { instanceOf: DatabaseInUse })
  const script = `import { lockDatabase } from '#src/store/sqlite/lock'
    lockDatabase(${JSON.stringify(path)})`
  const parameters = [...process.execArgv, '--input-type=module', '--eval', script]
  const { status, stderr } = spawnSync(process.execPath, parameters, { encoding: 'utf8' })
  t.is(status, 1)
  t.regex(stderr, /is in use by process \d+/)
  first.release()
})

const read = (directory: string, name: string): string =>
  readFileSync(join(directory, name), 'latin1')

// Method: what stands in the file that names the holder, and how the holder is called then.
for (const [text, name] of [
  ['{"process":41}', 'process 41'],
  ['{"process":41,"address":"[::1]:80"}', 'process 41, which listens on \\[::1\\]:80'],
  ['{"process":"41"}', 'another process'],
  ['{"process":41,"address":7}', 'another process'],
  ['null', 'another process'],
  ['{"process":', 'another process'],
  ['', 'another process'],
] as const) {
  test(`a holder that left ${text || 'nothing'} is called ${name}`, async (t) => {
    const path = join(await temporaryFolder(t), 'gateway.db')
    const first = lockDatabase(path)
    writeFileSync(`${path}-holder`, text)
    const message = new RegExp(`^the database ${path} is in use by ${name}: `)
    t.throws(() => lockDatabase(path), { message })
    first.release()
  })
}

test('the holder names itself, then its address, and no more once it has ended', async (t) => {
  const directory = await temporaryFolder(t)
  const path = join(directory, 'gateway.db')
  const lock = lockDatabase(path)
  const message = (more: string) => new RegExp(`in use by process ${process.pid}${more}: `)
  t.throws(() => lockDatabase(path), { message: message('') })
  lock.nameAddress('127.0.0.1:8080')
  t.throws(() => lockDatabase(path), { message: message(', which listens on 127.0.0.1:8080') })
  lock.release()
  t.deepEqual(readdirSync(directory), ['gateway.db-lock'])
})

test('a link to a database has the lock of the database', async (t) => {
  const directory = await temporaryFolder(t)
  mkdirSync(join(directory, 'real'))
  writeFileSync(join(directory, 'real', 'gateway.db'), '')
  symlinkSync(join(directory, 'real', 'gateway.db'), join(directory, 'file.db'))
  symlinkSync(join(directory, 'real'), join(directory, 'folder'))
  const lock = lockDatabase(join(directory, 'real', 'gateway.db'))
  for (const path of ['file.db', 'folder/gateway.db']) {
    t.throws(() => lockDatabase(join(directory, path)), { instanceOf: DatabaseInUse })
  }
  lock.release()
})

test('a database in memory belongs to its process and needs no lock', (t) => {
  const locks = [lockDatabase(':memory:'), lockDatabase(':memory:')]
  for (const lock of locks) lock.release()
  t.pass()
})

test('a folder that cannot be made is named', async (t) => {
  const file = join(await temporaryFolder(t), 'file')
  writeFileSync(file, '')
  t.throws(() => lockDatabase(join(file, 'below', 'gateway.db')), { message: /below/ })
})

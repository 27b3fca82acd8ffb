import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import test from 'ava'

import { FOLDER_PREFIX, holdFolder, removeLeftovers } from '#src/dev/cluster/cluster'
import { unlockFile } from '#src/dev/servers/lock-file'
import { temporaryFolder } from '#test/support/gateway'

/** The id of a process that has ended. */
async function endedProcessId(): Promise<number> {
  const child = spawn(process.execPath, [...process.execArgv, '-e', ''])
  await once(child, 'exit')
  return child.pid ?? 0
}

function makeFolder(temporary: string, name: string): string {
  const folder = join(temporary, `${FOLDER_PREFIX}${name}`)
  mkdirSync(join(folder, 'mariadb'), { recursive: true })
  writeFileSync(join(folder, 'mariadb', 'data'), 'rows')
  return folder
}

test('dev-cluster/2: removeLeftovers removes the folder of a killed cluster, not of a running one', async (t) => {
  const temporary = await temporaryFolder(t)
  const killed = makeFolder(temporary, 'killed')
  writeFileSync(`${killed}.lock`, String(await endedProcessId()))
  const running = makeFolder(temporary, 'running')
  const lock = await holdFolder(running)
  makeFolder(temporary, 'without-lock')
  mkdirSync(join(temporary, 'of-another-program'))
  await removeLeftovers(temporary)
  t.deepEqual(readdirSync(temporary).toSorted(), [
    `${FOLDER_PREFIX}running`,
    `${FOLDER_PREFIX}running.lock`,
    `${FOLDER_PREFIX}without-lock`,
    'of-another-program',
  ])
  await unlockFile(lock)
})

test('removeLeftovers removes a lock without a folder too', async (t) => {
  const temporary = await temporaryFolder(t)
  writeFileSync(join(temporary, `${FOLDER_PREFIX}gone.lock`), String(await endedProcessId()))
  await removeLeftovers(temporary)
  t.deepEqual(readdirSync(temporary), [])
})

test('holdFolder refuses a folder that another process uses', async (t) => {
  const folder = makeFolder(await temporaryFolder(t), 'used')
  const lock = await holdFolder(folder)
  await t.throwsAsync(holdFolder(folder), { message: /held by another process/ })
  await unlockFile(lock)
})

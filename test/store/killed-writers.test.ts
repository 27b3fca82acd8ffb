// Goal: a process that is killed within a turn or a run of joining leaves all of it or nothing.
// Method: a process that kills itself at each statement in turn.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import type { Store } from '#src/store/store'
import { TEST_MS } from '#test/support/bounds'
import { joinAll } from '#test/support/joined'
import { emptyDatabase, openNode, sharedMariaDb } from '#test/support/mariadb'
import { script } from '#test/support/program'
import { databasePath, openStoreAt } from '#test/support/sqlite-store'
import { ChannelWriter } from '#test/support/store-writer'
import { channel, message, thing } from '#test/support/submissions'

const mariaDb = sharedMariaDb()
const run = promisify(execFile)
const A = channel(1)

interface Engine {
  readonly url: string
  readonly open: () => Promise<Store>
}

const sqlite = async (t: ExecutionContext): Promise<Engine> => {
  const path = await databasePath(t)
  return { url: `sqlite:${path}`, open: () => openStoreAt(t, path) }
}
const mysql = async (t: ExecutionContext): Promise<Engine> => {
  const url = await emptyDatabase(t, mariaDb.server())
  return { url, open: () => openNode(t, url) }
}

const KILLED: readonly (readonly [
  engine: string,
  make: (t: ExecutionContext) => Promise<Engine>,
  verb: string,
  statements: readonly string[],
])[] = [
  [
    'sqlite',
    sqlite,
    'turn',
    [
      'UPDATE lanes',
      'INSERT OR FAIL INTO update_blocks',
      'INSERT OR FAIL INTO update_places',
      'INSERT OR FAIL INTO operation_batches',
      'COMMIT',
    ],
  ],
  [
    'sqlite',
    sqlite,
    'join',
    [
      'DELETE FROM update_blocks',
      'DELETE FROM update_places',
      'INSERT OR FAIL INTO update_blocks',
      'INSERT OR FAIL INTO update_places',
      'COMMIT',
    ],
  ],
  ['mysql', mysql, 'turn', ['COMMIT']],
  ['mysql', mysql, 'join', ['DELETE FROM update_blocks', 'COMMIT']],
]

for (const [engine, make, verb, statements] of KILLED) {
  test.serial(
    `${engine}: W2, joining/1: a process that is killed within a ${verb} leaves nothing of it`,
    async (t) => {
      t.timeout(TEST_MS)
      const { url, open } = await make(t)
      const store = await open()
      const writer = await ChannelWriter.open(store, 1)
      const first = message()
      for (let at = 0; at < 200; at += 1) writer.take(thing('update', 'lamp', { at }))
      await writer.take(first).commit()
      const stateOf = async (of: Store) => [
        await of.read.history({ channelId: A, limit: 500 }),
        await of.turns.takeLane({ lane: 1, epoch: 1 }),
        await of.operations.find(first.opId),
      ]
      const before = await stateOf(store)
      await store.close()
      for (const statement of statements) {
        const words = [...script('dying-writer'), url, statement, verb]
        const error = await t.throwsAsync(run(process.execPath, words))
        t.like(error, { signal: 'SIGKILL' }, `${statement}: ${String(error)}`)
        const again = await open()
        t.deepEqual(await stateOf(again), before, statement)
        await again.close()
      }
      const last = await open()
      t.is(await joinAll(last), 200)
      t.deepEqual(await stateOf(last), before)
    },
  )
}

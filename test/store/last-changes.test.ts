// The reach of a page, on both engines: SQLite tells it to the row, MySQL to the number that seqs share.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { seqBehind } from '#src/store/statements/last-changes'
import { newDatabase, sharedMariaDb } from '#test/support/mariadb'
import { databasePath } from '#test/support/sqlite-store'
import { ChannelWriter } from '#test/support/store-writer'
import { thing } from '#test/support/submissions'
import { openWatched } from '#test/support/watched-store'

const mariaDb = sharedMariaDb()
const THINGS = 400
const SHARED = 128

/** The rows behind the seq that is given are no more than asked for, and fewer by `slack` at most. */
async function reachesBack(t: ExecutionContext, url: string, slack: number): Promise<void> {
  const store = await openWatched(t, url)
  const writer = await ChannelWriter.open(store, 1)
  for (let index = 0; index < THINGS; index += 1) writer.take(thing('update', `t${index}`))
  await writer.commit()
  const changes = { table: 'things', channel: writer.head.ref } as const
  for (const most of [127, 128, 129, 200, 255, 256, 257, THINGS - 1]) {
    const seq = await store.database.read((executor) => seqBehind(executor, changes, most))
    const behind = THINGS - (seq ?? 0)
    t.true(behind <= most && behind >= most - slack, `${most}: ${behind}`)
  }
  t.is(await store.database.read((executor) => seqBehind(executor, changes, THINGS)), undefined)
}

test('paging/1: SQLite steps over its bound of rows', async (t) => {
  await reachesBack(t, `sqlite:${await databasePath(t)}`, 0)
})

mariaDb.test(
  'paging/1: MySQL steps over fewer by less than the seqs that share a number',
  async (t, server) => {
    await reachesBack(t, await newDatabase(server), SHARED - 1)
  },
)

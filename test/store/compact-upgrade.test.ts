// A database of the version before records of batches: migrated while nodes of that version go on.

import { DataSource } from 'typeorm'

import { dataSourceOptionsFor } from '#ormconfig'
import { MIGRATIONS } from '#src/store/migrations/migrations'
import { newDatabase, openNode, sharedMariaDb } from '#test/support/mariadb'
import { ChannelWriter } from '#test/support/store-writer'
import { message } from '#test/support/submissions'

const mariaDb = sharedMariaDb()
const BEFORE = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name.startsWith('Compact')),
)
/** An operation as the version before wrote it. */
const OLD = `INSERT INTO operations
    (op_id, channel_id, model, entity_id, status, accepted_at, updated_at, error_code)
  VALUES (?, ?, 'message', ?, 'sent', 1000, 1000, NULL)`
const HOUR_MS = 3_600_000

for (const { applied, forms } of [
  { applied: 1, forms: ['row', 'batch'] },
  { applied: 0, forms: ['batch', 'batch'] },
]) {
  mariaDb.test(
    `operation-batches/3: operations accepted within an hour and after it are a ${forms.join(' and a ')} where ${applied} lanes were applied`,
    async (t, server) => {
      const url = await newDatabase(server)
      const options = { ...dataSourceOptionsFor(url), migrations: BEFORE }
      const old = await new DataSource(options).initialize()
      t.teardown(() => old.destroy())
      await old.runMigrations({ transaction: 'each' })
      if (applied > 0) await old.query('INSERT INTO lanes (lane, epoch, place) VALUES (9, 1, 7)')

      const store = await openNode(t, url)
      const writer = await ChannelWriter.open(store, 1)
      const soon = message({ acceptedAt: Date.now() })
      const later = message({ acceptedAt: Date.now() + HOUR_MS })
      await writer.take(soon, later).commit()
      const rows = (await old.query('SELECT op_id AS opId FROM operations')) as { opId: string }[]
      const inRows = new Set(rows.map(({ opId }) => opId))
      t.deepEqual(
        [soon, later].map(({ opId }) => (inRows.has(opId) ? 'row' : 'batch')),
        forms,
      )
      // Nodes of the version before go on writing rows, and this one reads them.
      const byOld = message()
      await old.query(OLD, [byOld.opId, byOld.channelId, byOld.entityId])
      for (const { opId } of [soon, later, byOld]) {
        t.is((await store.operations.find(opId))?.status, 'sent')
      }
    },
  )
}

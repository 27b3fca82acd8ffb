// Goal: connections and jobs stay bounded while MySQL is slow or says nothing.

import type { Runtime } from '#domain/runtime'
import { ANSWER_MS_MAX } from '#src/store/jobs/connections'
import { dialectOf } from '#src/store/dialects'
import { JOBS_WAITING_MAX } from '#src/store/jobs/gate'
import { StoreBusy, StoreError } from '#src/store/store-error'
import { sharedMariaDb } from '#test/support/mariadb'
import { openNotes, write } from '#test/support/mysql-notes'
import { realRuntime } from '#test/support/real-runtime'
import { Relay } from '#test/support/relay'

const mariaDb = sharedMariaDb()

/** While it is on, an answer is waited for a moment only; a busy machine may take longer. */
function impatience() {
  const own = { isOn: false }
  const runtime: Runtime = {
    ...realRuntime,
    after: (delayMs, callback) =>
      realRuntime.after(own.isOn && delayMs === ANSWER_MS_MAX ? 300 : delayMs, callback),
  }
  return { own, runtime }
}

mariaDb.test('connections/2: a silent server is given up, and found again', async (t, server) => {
  const relay = await Relay.open(t, server.port)
  const { own, runtime } = impatience()
  const { database, texts } = await openNotes(t, server, { port: relay.port, runtime })
  await database.read((executor) => executor.all('SELECT 1'))
  relay.freeze()
  own.isOn = true
  const job = database.durable((executor) => write(executor, 1, 'c'))
  await t.throwsAsync(job, { instanceOf: StoreError, code: 'no_answer' })
  relay.thaw()
  own.isOn = false
  await database.durable((executor) => write(executor, 1, 'd'))
  t.deepEqual(await texts(), ['d', 'b'])
})

mariaDb.test(
  'connections/1, connections/3: late connections do not fill the pool',
  async (t, server) => {
    const relay = await Relay.open(t, server.port)
    const { own, runtime } = impatience()
    const { database } = await openNotes(t, server, { port: relay.port, runtime })
    const ask = () => database.read((executor) => executor.all('SELECT 1'))
    relay.freeze()
    own.isOn = true
    await t.throwsAsync(ask(), { instanceOf: StoreError, code: 'no_answer' })
    // Each login is held back once; asked about again when the relay is thawed, it passes.
    let asked = 0
    relay.watch((bytes) => {
      if (!bytes.includes('_client_name')) return 'pass'
      asked += 1
      return asked % 2 === 0 ? 'pass' : 'hold'
    })
    for (let late = 0; late < 2 * dialectOf('mysql').connections; late += 1) {
      relay.thaw()
      await ask().catch((error: unknown) => t.true(error instanceof StoreError))
    }
    relay.thaw()
    own.isOn = false
    await t.notThrowsAsync(ask())
    t.true(asked > 0)
  },
)

mariaDb.test('gate/2: while the database is slow, waiting jobs are bounded', async (t, server) => {
  const { database, meter } = await openNotes(t, server)
  const places = dialectOf('mysql').connections
  const slow = Array.from({ length: places }, () =>
    database.read((executor) => executor.all('SELECT SLEEP(0.5)')),
  )
  const order: string[] = []
  const waiting = Array.from({ length: JOBS_WAITING_MAX }, () =>
    database.read(async () => void order.push('other')),
  )
  waiting.push(database.read(async () => void order.push('urgent'), { isUrgent: true }))
  t.is(meter.gauges.get('store_queue')?.(), JOBS_WAITING_MAX + 1)
  await t.throwsAsync(
    database.read(async () => {}),
    { instanceOf: StoreBusy },
  )
  await Promise.all([...slow, ...waiting])
  t.true(order.indexOf('urgent') < places)
  t.is(meter.gauges.get('store_queue')?.(), 0)
})

// Goal: a dispatcher needs no more memory and claims for a long queue than for a short one.
// Method: a statement copies a few jobs to a hundred thousand; HELIOGRAPH_QUEUED_JOBS=1000000 sets
// another number.

import { DatabaseSync } from 'node:sqlite'

import test from 'ava'

import type { Outcome } from '#domain/push'
import { TEST_MS } from '#test/support/bounds'
import { DispatchBench, NOW } from '#test/support/dispatch-bench'
import { heapAfterCollection } from '#test/support/heap'
import { message, opId } from '#test/support/submissions'

const QUEUED = Number(process.env['HELIOGRAPH_QUEUED_JOBS'] ?? 100_000)
const DEVICES = 40
const HELD_MAX = 2_000
const CLAIM_MAX = 500
const DELIVERED = 2_500
/** Claims for the pushes that are delivered and held, and one that finds no room. */
const CLAIMS_MAX = (DELIVERED + HELD_MAX) / CLAIM_MAX + 1
/** Far below the bytes of the whole queue: a job has some hundred bytes. */
const GROWTH_BYTES_MAX = 16 * 2 ** 20

/** Copies the existing jobs until there are `count`. */
function multiply(path: string, count: number): void {
  const database = new DatabaseSync(path)
  const columns =
    'provider, device, route_revision, channel, seq, op_id, thing, state, queued_at, due_at, ' +
    'expires_at, attempts, claim'
  database.exec(
    `INSERT INTO push_jobs (${columns})
      WITH RECURSIVE numbers (n) AS (
        SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${Math.floor(count / DEVICES) - 1}
      )
      SELECT ${columns} FROM numbers CROSS JOIN (SELECT * FROM push_jobs)`,
  )
  database.close()
}

test('dispatcher/1, claiming/5: with 100,000 queued jobs a dispatcher holds and reads no more than with few', async (t) => {
  t.timeout(TEST_MS)
  const bench = await DispatchBench.open(t, DEVICES)
  await bench.writer.take(message({ acceptedAt: NOW })).commit()
  multiply(bench.path, QUEUED)
  const held = (): number => bench.meter.gauges.get('push_held{apns}')?.() ?? 0
  const never = new Promise<Outcome>(() => {})
  let answers = 0
  let heldMost = 0
  bench.provider.answer = () => {
    heldMost = Math.max(heldMost, held())
    answers -= 1
    return answers < 0 ? never : { kind: 'delivered' }
  }
  const before = heapAfterCollection()

  // While the provider hangs, the dispatcher fills up and stops claiming.
  const hanging = bench.start('hanging')
  await bench.advanceUntil('it is full', () => held() > HELD_MAX - CLAIM_MAX, 0)
  const claims = bench.claims.length
  for (let count = 0; count < 20; count += 1) bench.time.advance(100)
  t.is(bench.claims.length, claims, 'it claims nothing without room')
  const full = heapAfterCollection()
  hanging.kill()

  // When the provider answers, another worker takes over and goes on, and memory does not grow.
  answers = DELIVERED
  bench.time.advance(40_000)
  const answered = bench.start('answered')
  const delivered = (): number => bench.counted('delivered')
  await bench.advanceUntil('many are sent', () => delivered() === DELIVERED, 10)
  bench.provider.sent.length = 0
  bench.provider.taken.length = 0
  const working = heapAfterCollection()
  answered.kill()
  const taken = bench.claims.slice(claims)

  t.true(heldMost <= HELD_MAX, `${heldMost} held`)
  t.true(bench.claims.every((pushes) => pushes <= CLAIM_MAX))
  t.true(taken.length <= CLAIMS_MAX, `claims gave ${taken.join(', ')} pushes`)
  const growth = Math.max(full, working) - before
  t.log(`${QUEUED} jobs, ${Math.round(growth / 1024)} KiB`)
  t.true(growth < GROWTH_BYTES_MAX, `${growth} bytes`)
})

test('W6: a dispatcher counts pushes whose entries cannot be read, and sends the others', async (t) => {
  const bench = await DispatchBench.open(t)
  await bench.writer.take(message({ opId: 'damaged' }), message()).commit()
  const file = new DatabaseSync(bench.path)
  file.exec(`UPDATE feed_entries SET payload = '{' WHERE op_id = '${opId('damaged')}'`)
  file.close()
  const dispatcher = bench.start()
  await bench.advanceUntil('the other is sent', () => bench.counted('delivered') === 1)
  t.is(bench.counted('unreadable'), 1)
  t.is(bench.meter.total('operations_total{failed}'), 1)
  const lines = bench.logger.lines.filter(({ level }) => level === 'error')
  t.deepEqual(
    lines.map(({ fields }) => fields),
    [{ count: 1 }],
  )
  await dispatcher.stop()
})

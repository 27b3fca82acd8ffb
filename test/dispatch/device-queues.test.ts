import test from 'ava'
import { Subject } from 'rxjs'

import type { Push } from '#domain/push'
import { deliverInQueues, queueOf } from '#src/dispatch/device-queues'

interface Sending {
  readonly push: Push
  readonly end: () => void
}

const push = (id: number, device: number): Push => ({ id, route: { device } }) as unknown as Push

function bench(queues: number) {
  const pushes = new Subject<Push>()
  const sending: Sending[] = []
  const endings: number[] = []
  const deliver = (one: Push): Promise<number> =>
    new Promise((resolve) => sending.push({ push: one, end: () => resolve(one.id) }))
  pushes.pipe(deliverInQueues({ deliver, queues })).subscribe((id) => endings.push(id))
  const idsInFlight = () => sending.map(({ push: { id } }) => id)
  return { pushes, sending, endings, idsInFlight }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('device-queues/1: a queue delivers one push after the other, and queues deliver concurrently', async (t) => {
  const { pushes, sending, endings, idsInFlight } = bench(4)
  for (const [id, device] of [
    [1, 1],
    [2, 1],
    [3, 2],
    [4, 5],
  ] as const) {
    pushes.next(push(id, device))
  }
  t.deepEqual(idsInFlight(), [1, 3], 'devices 1 and 5 share a queue')
  sending[1]?.end()
  await settled()
  t.deepEqual(idsInFlight(), [1, 3])
  sending[0]?.end()
  await settled()
  sending[2]?.end()
  await settled()
  sending[3]?.end()
  await settled()
  t.deepEqual(endings, [3, 1, 2, 4])
})

test('the queues deliver every push, however many queues begin at once', async (t) => {
  const { pushes, sending, endings } = bench(64)
  for (let id = 0; id < 500; id += 1) pushes.next(push(id, id))
  for (let at = 0; at < 500; at += 1) {
    sending[at]?.end()
    await settled()
  }
  t.is(new Set(endings).size, 500)
})

test('devices spread evenly over the queues', (t) => {
  const queues = Array.from({ length: 1_000 }, (_, device) => queueOf(push(1, device), 10))
  t.is(queues.filter((queue) => queue === 3).length, 100)
  t.true(queues.every((queue) => queue >= 0 && queue < 10))
})

// Method: one device has more jobs than a worker holds, another one gets a single Message.

import test from 'ava'

import { DispatchBench } from '#test/support/dispatch-bench'
import { DELIVERED } from '#test/support/fake-provider'
import { addPushDevice } from '#test/support/push-jobs'
import { ChannelWriter } from '#test/support/store-writer'
import { message } from '#test/support/submissions'

const LONG = 2_600

test('long-queues/1: a device with a long queue takes no room from others', async (t) => {
  const bench = await DispatchBench.open(t)
  const { writer, provider, store, time } = bench
  const latencyMs = 50
  provider.answer = () =>
    new Promise((resolve) => void time.after(latencyMs, () => resolve(DELIVERED)))
  for (let index = 0; index < LONG; index += 1) writer.take(message())
  await writer.commit()
  const dispatcher = bench.start()
  await bench.advanceUntil('it has what it may have', () => bench.counted('delivered') > 20)
  const other = await ChannelWriter.open(store, 2)
  await addPushDevice(store, other.channelId, 2)
  await other.take(message()).commit()
  dispatcher.nudge()
  const atMs = time.nowMs()
  const ofOther = (): boolean => provider.taken.some(({ route }) => route.token === 'token 2')
  await bench.advanceUntil('the other device has its push', ofOther, 10)
  t.true(time.nowMs() - atMs <= 1_000, `${time.nowMs() - atMs} ms`)
  const beganMs = time.nowMs()
  const delivered = bench.counted('delivered')
  await bench.advanceUntil('the queue is empty', () => bench.counted('delivered') === LONG + 1)
  const perPushMs = (time.nowMs() - beganMs) / (LONG + 1 - delivered)
  t.true(perPushMs < 2 * latencyMs + 20, `${perPushMs} ms a push`)
  t.deepEqual(
    provider.taken.filter(({ route }) => route.token === 'token 1').map(({ entry }) => entry.seq),
    Array.from({ length: LONG }, (_, index) => index + 1),
  )
  await dispatcher.stop()
})

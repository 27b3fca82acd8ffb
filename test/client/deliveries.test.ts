// Method: the test is the gateway, frame by frame; time moves only when the test moves it.

import test from 'ava'

import { deliveries } from '#src/client/deliveries'
import { WEB } from '#src/client/runtime'
import { FakeTime } from '#test/support/fake-timers'
import { ScriptedGateway } from '#test/support/scripted-carrier'
import { KEY, channel } from '#test/support/session-words'
import { turn } from '#test/support/until'

const A = channel('A')

async function rig() {
  const gateway = new ScriptedGateway()
  const time = new FakeTime(0)
  const loop = deliveries({
    deviceKey: KEY,
    carrier: gateway.carrier,
    runtime: { ...WEB, after: (delayMs, callback) => time.after(delayMs, callback) },
  })
  await gateway.greeted()
  gateway.welcome([[A, 0, 0]])
  const acks = (): readonly number[] =>
    gateway.heard.flatMap((frame) => (frame.kind === 'ack' ? [frame.seq] : []))
  return { gateway, time, loop, acks }
}

const seqOf = ({ value }: IteratorResult<{ readonly seq: number }, undefined>) => value?.seq

test('deliveries/1, deliveries/2: the next step of the loop acknowledges the entry before', async (t) => {
  const { gateway, time, loop, acks } = await rig()
  for (const seq of [1, 2]) gateway.message(A, seq)
  t.is(seqOf(await loop.next()), 1)
  await turn()
  time.advance(1_000)
  t.deepEqual(acks(), [])
  t.is(seqOf(await loop.next()), 2)
  await turn()
  time.advance(1_000)
  t.deepEqual(acks(), [1])
  await loop.return?.()
})

test('deliveries/1: a loop that its caller leaves does not acknowledge its last entry', async (t) => {
  const { gateway, loop, acks } = await rig()
  for (const seq of [1, 2, 3]) gateway.message(A, seq)
  for await (const { seq } of loop) if (seq === 2) break
  t.deepEqual(acks(), [1])
  t.is(loop.watch.cursors.get(A), 1)
  t.deepEqual(await loop.next(), { done: true, value: undefined })
})

test('a closed loop acknowledges its last entry and ends', async (t) => {
  const { gateway, loop, acks } = await rig()
  for (const seq of [1, 2]) gateway.message(A, seq)
  const seen: number[] = []
  for await (const { seq } of loop) {
    seen.push(seq)
    loop.close()
  }
  t.deepEqual([seen, acks()], [[1], [1]])
})

test('close ends a waiting loop', async (t) => {
  const { loop } = await rig()
  const next = loop.next()
  loop.close()
  t.true((await next).done)
})

test('next answers overlapping calls in their order', async (t) => {
  const { gateway, loop } = await rig()
  const both = [loop.next(), loop.next()]
  for (const seq of [1, 2]) gateway.message(A, seq)
  t.deepEqual((await Promise.all(both)).map(seqOf), [1, 2])
  await loop.return?.()
})

test('a loop throws the error that ended its session', async (t) => {
  const replaced = await rig()
  replaced.gateway.say({ kind: 'goaway', reason: 'replaced', retryAfterMs: undefined })
  await t.throwsAsync(replaced.loop.next(), { message: /newer session/ })
  const refused = await rig()
  const message = 'the device_key is not registered'
  refused.gateway.say({ kind: 'error', code: 'device_key_not_found', message })
  await t.throwsAsync(refused.loop.next(), { message })
})

test('a handled entry does not come again after a lost connection', async (t) => {
  const { gateway, time, loop } = await rig()
  gateway.message(A, 1)
  t.is(seqOf(await loop.next()), 1)
  gateway.lose()
  const next = loop.next()
  await turn()
  time.advance(30_000)
  const hello = await gateway.greeted(2)
  t.deepEqual([...hello.cursors], [[A, 1]])
  gateway.welcome([[A, 2, 1]])
  for (const seq of [1, 2]) gateway.message(A, seq)
  t.is(seqOf(await next), 2)
  await loop.return?.()
})

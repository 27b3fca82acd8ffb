// Goal: an operator sees that a node makes no pushes that others make.
// Method: two nodes on one bus, and time turned by hand.

import test from 'ava'

import { TELL_EVERY_MS, watchProviders } from '#src/runtime/cluster/provider-agreement'
import { FakeBus } from '#test/support/fake-bus'
import { FakeLogger, FakeMeter } from '#test/support/fake-telemetry'
import { HandTurnedRuntime } from '#test/support/hand-turned-runtime'

function setUp() {
  const [bus, runtime] = [new FakeBus(), new HandTurnedRuntime(0)]
  const begin = (nodeId: string, providers: object) => {
    const [logger, meter] = [new FakeLogger(), new FakeMeter()]
    const stop = watchProviders({ bus, runtime, logger, meter }, { nodeId, providers })
    return { stop, logger, differing: () => meter.gauges.get('push_providers_differing')?.() }
  }
  return { runtime, begin }
}

test('provider-agreement/1: a node with other providers is in the log once, and counts', async (t) => {
  const { runtime, begin } = setUp()
  const one = begin('one', { webpush: {}, apns: {} })
  const same = begin('same', { apns: {}, webpush: {} })
  const other = begin('other', { webpush: {} })
  await runtime.pass(10 * TELL_EVERY_MS)
  for (const node of [one, same]) {
    t.is(node.logger.lines.length, 1)
    t.like(node.logger.lines[0], {
      level: 'warn',
      fields: { other: 'other', has: 'webpush', here: 'apns,webpush' },
    })
    t.is(node.differing(), 1)
  }
  t.is(other.differing(), 2)
  // Started anew without any, it is told again.
  other.stop()
  const without = begin('other', {})
  t.like(one.logger.lines[1], { fields: { other: 'other', has: 'none' } })
  without.stop()
  begin('other', { apns: {}, webpush: {} })
  t.is(one.differing(), 0)
})

test('provider-agreement/1: a node that is silent no longer counts', async (t) => {
  const { runtime, begin } = setUp()
  const one = begin('one', { apns: {} })
  begin('other', {}).stop()
  t.is(one.differing(), 1)
  await runtime.pass(4 * TELL_EVERY_MS)
  t.is(one.differing(), 1)
  await runtime.pass(TELL_EVERY_MS)
  t.is(one.differing(), 0)
})

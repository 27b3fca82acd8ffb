import test from 'ava'

import type { Slot } from '#domain/bounds/slots'
import { ConnectionLimits } from '#src/doors/connection-limits'
import { FakeMeter } from '#test/support/fake-telemetry'

const takes = (limits: ConnectionLimits, address: string): Slot => {
  const slot = limits.take(address)
  if (typeof slot === 'string') throw new Error(slot)
  return slot
}

test('slots/1: a slot counts in the total and for its address, and release frees it once', (t) => {
  const meter = new FakeMeter()
  const limits = new ConnectionLimits('tcp', { total: 3, perAddress: 2 }, meter)
  const held = (): number => meter.gauges.get('device_connections{tcp}')?.() ?? -1
  const first = takes(limits, '192.0.2.1')
  takes(limits, '192.0.2.1')
  t.is(limits.take('192.0.2.1'), 'rate_limited')
  takes(limits, '192.0.2.2')
  t.is(limits.take('192.0.2.3'), 'server_busy')
  t.is(held(), 3)
  first.release()
  first.release()
  t.is(held(), 2)
  takes(limits, '192.0.2.1')
  t.is(limits.take('192.0.2.2'), 'server_busy')
  t.is(meter.total('connections_refused_total{tcp,rate_limited}'), 1)
  t.is(meter.total('connections_refused_total{tcp,server_busy}'), 2)
})

test('the addresses of an IPv6 /64 count together, those of another one apart', (t) => {
  const limits = new ConnectionLimits('tcp', { total: 100, perAddress: 1 }, new FakeMeter())
  const rows: readonly (readonly [address: string, hasPlace: boolean])[] = [
    ['2001:db8:1:2::1', true],
    ['2001:db8:1:2:ffff::9', false],
    ['2001:db8:1:3::1', true],
    ['::1', true],
    ['0:0:0:0:1:2:3:4', false],
    ['fe80::1%eth0', true],
    ['unknown', true],
    ['unknown', false],
  ]
  for (const [address, hasPlace] of rows) {
    t.is(typeof limits.take(address) !== 'string', hasPlace, address)
  }
})

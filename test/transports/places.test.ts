import test from 'ava'

import { Places } from '#src/transports/places'
import type { Place } from '#src/transports/places'
import { FakeMeter } from '#test/support/fake-telemetry'

const takes = (places: Places, address: string): Place => {
  const place = places.take(address)
  if (typeof place === 'string') throw new Error(place)
  return place
}

test('places/1: a place is taken in the total and under the address, and given back once', (t) => {
  const meter = new FakeMeter()
  const places = new Places('tcp', { total: 3, perAddress: 2 }, meter)
  const held = (): number => meter.gauges.get('device_connections{tcp}')?.() ?? -1
  const first = takes(places, '192.0.2.1')
  takes(places, '192.0.2.1')
  t.is(places.take('192.0.2.1'), 'rate_limited')
  takes(places, '192.0.2.2')
  t.is(places.take('192.0.2.3'), 'server_busy')
  t.is(held(), 3)
  first.release()
  first.release()
  t.is(held(), 2)
  takes(places, '192.0.2.1')
  t.is(places.take('192.0.2.2'), 'server_busy')
  t.is(meter.total('connections_refused_total{tcp,rate_limited}'), 1)
  t.is(meter.total('connections_refused_total{tcp,server_busy}'), 2)
})

test('the addresses of an IPv6 /64 count together, those of another one apart', (t) => {
  const places = new Places('tcp', { total: 100, perAddress: 1 }, new FakeMeter())
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
    t.is(typeof places.take(address) !== 'string', hasPlace, address)
  }
})

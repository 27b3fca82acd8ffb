import test from 'ava'

import { hostOf, networksOf } from '#domain/host'

const hosts: readonly (readonly [address: string, host: string])[] = [
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:c000:207', '192.0.2.7'],
  ['::fffe:192.0.2.7', '0:0:0:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::', '2001:db8:1:3::/64'],
  ['2001:db8::6', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['1:2:3:4::', '1:2:3:4::/64'],
  ['::4:5:6:7:8', '0:0:0:4::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['unknown', 'unknown'],
  ['no:address', 'no:address'],
  ['1:2:3', '1:2:3'],
  ['1:2:3:4:5:6:7:8:9', '1:2:3:4:5:6:7:8:9'],
  ['12345::', '12345::'],
]

for (const [address, host] of hosts) {
  test(`${address} is counted as ${host}`, (t) => t.is(hostOf(address), host))
}

test('hosts of one /56 and of one /48 share their networks, those of two do not', (t) => {
  const networks = (address: string): readonly string[] => networksOf(hostOf(address))
  const [site56, site48] = networks('2001:db8:1:200::1')
  t.deepEqual(networks('2001:db8:1:2ff:ffff::'), [site56, site48])
  const [beyond56, same48] = networks('2001:db8:1:300::1')
  t.not(beyond56, site56)
  t.is(same48, site48)
  t.not(networks('2001:db8:2:200::1')[1], site48)
  for (const address of ['192.0.2.7', '::ffff:192.0.2.7', 'unknown'])
    t.deepEqual(networks(address), [])
})

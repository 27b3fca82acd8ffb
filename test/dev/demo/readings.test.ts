// Goal: the parsers read texts of /proc as the kernel writes them, odd names included.
// Method: parse sample texts with one awkward line each; run the reader once on this computer.

import test from 'ava'

import {
  Computer,
  busiestProcesses,
  cpuPercentBetween,
  parseMounts,
  parseNetDev,
  parseProcessStat,
  parseResidentBytes,
  thingIdFor,
} from '#src/dev/demo/readings'
import type { ProcessTimes } from '#src/dev/demo/readings'

const NET_DEV = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop
    lo: 1200      12    0    0    0     0          0         0     1300      12    0    0
  eth0:98765432109 800  0    0    0     0          0         0 12345678901  700    0    0
br-a:b: 5 1 0 0 0 0 0 0 6 1 0 0
broken: not numbers at all
`

test('parseNetDev reads traffic per interface, also where the name touches the first number', (t) => {
  t.deepEqual(
    [...parseNetDev(NET_DEV)],
    [
      ['lo', { rxBytes: 1200, txBytes: 1300 }],
      ['eth0', { rxBytes: 98_765_432_109, txBytes: 12_345_678_901 }],
      ['br-a:b', { rxBytes: 5, txBytes: 6 }],
    ],
  )
  t.is(parseNetDev('').size, 0)
})

const STAT_TAIL = 'S 1 42 42 0 -1 4194560 900 0 3 0 70 30 0 0 20 0 11 0 5551 1000000 300'

const stats: [text: string, expected: ProcessTimes | undefined][] = [
  [`42 (node) ${STAT_TAIL}\n`, { pid: 42, name: 'node', ticks: 100, startTicks: 5551 }],
  [`42 (a) R (b c) ${STAT_TAIL}`, { pid: 42, name: 'a) R (b c', ticks: 100, startTicks: 5551 }],
  ['', undefined],
  ['42 (node) S 1 2 3', undefined],
  ['42 node S', undefined],
  [`x (node) ${STAT_TAIL}`, undefined],
]

test('parseProcessStat reads the times of a process whatever its name holds', (t) => {
  for (const [text, expected] of stats) t.deepEqual(parseProcessStat(text), expected, text)
})

test('parseResidentBytes gives bytes, and undefined for kernel threads', (t) => {
  t.is(parseResidentBytes('Name:\tnode\nVmPeak:\t 9000 kB\nVmRSS:\t    2048 kB\n'), 2_097_152)
  t.is(parseResidentBytes('Name:\tkthreadd\n'), undefined)
})

const MOUNTS = `proc /proc proc rw 0 0
overlay / overlay rw 0 0
/dev/sda1 /etc/hosts ext4 rw 0 0
/dev/sda1 /data ext4 rw 0 0
/dev/sdb1 /my\\040disk ext4 rw 0 0
/dev/loop3 /snap/core squashfs ro 0 0
server:/share /mnt/nfs nfs4 rw 0 0
`

test('parseMounts lists each disk once, the root always and first', (t) => {
  t.deepEqual(parseMounts(MOUNTS), ['/', '/etc/hosts', '/my disk'])
  t.deepEqual(parseMounts('/dev/vda /other ext4 rw 0 0\n/dev/vda / ext4 rw 0 0'), ['/'])
  t.deepEqual(parseMounts(''), ['/'])
})

test('parseMounts lists at most sixteen disks', (t) => {
  const line = (index: number): string => `/dev/sd${index} /d${index} ext4 rw 0 0`
  const of = (count: number): string => Array.from({ length: count }, (_, i) => line(i)).join('\n')
  t.is(parseMounts(of(15)).length, 16)
  t.is(parseMounts(of(16)).length, 16)
})

test('a name of the system becomes a thing_id, and two names never share one', (t) => {
  t.is(thingIdFor('disk', '/'), 'disk:root')
  t.is(thingIdFor('disk', '/var/lib'), 'disk:var:lib')
  t.is(thingIdFor('net', 'eth0'), 'net:eth0')
  const names = ['/', '/root', '/a/b', '/a:b', '/a b', '/a_b', '/ä', `/${'x'.repeat(80)}`]
  const ids = names.map((name) => thingIdFor('disk', name))
  t.is(new Set(ids).size, names.length)
  for (const id of ids) t.regex(id, /^[A-Za-z0-9_:-]{1,64}$/)
  // 64 characters stay as they are, one more does not.
  t.is(thingIdFor('disk', 'y'.repeat(59)), `disk:${'y'.repeat(59)}`)
  t.regex(thingIdFor('disk', 'y'.repeat(60)), /-[0-9a-f]{8}$/)
})

test('processor use is the busy share of the time that passed', (t) => {
  t.is(cpuPercentBetween({ busy: 100, total: 1000 }, { busy: 125, total: 1200 }), 12.5)
  t.is(cpuPercentBetween({ busy: 100, total: 1000 }, { busy: 90, total: 1100 }), 0)
  t.is(cpuPercentBetween({ busy: 100, total: 1000 }, { busy: 100, total: 1000 }), undefined)
})

const processesOf = (...times: ProcessTimes[]): ReadonlyMap<number, ProcessTimes> =>
  new Map(times.map((process) => [process.pid, process]))

test('busiestProcesses finds the five busiest processes between two samples', (t) => {
  const idle = { pid: 1, name: 'init', ticks: 900, startTicks: 0 }
  const reused = { pid: 2, name: 'old', ticks: 500, startTicks: 5 }
  const before = processesOf(idle, reused)
  const fresh = [10, 11, 12, 13, 14].map((pid) => ({ pid, name: 'n', ticks: pid, startTicks: 9 }))
  const after = processesOf(idle, { ...reused, name: 'new', ticks: 40, startTicks: 9 }, ...fresh)
  const busiest = busiestProcesses(before, after)
  t.deepEqual(
    busiest.map(({ pid, ticks }) => [pid, ticks]),
    [
      [2, 40],
      [14, 14],
      [13, 13],
      [12, 12],
      [11, 11],
    ],
  )
})

test('this computer gives a host and disks, and rates from the second reading on', async (t) => {
  let nowMs = 0
  const computer = new Computer(() => nowMs)
  const first = await computer.read()
  t.true(first.every(({ thingId }) => /^(host|disk:)/.test(thingId)))
  nowMs = 1000
  const things = await computer.read()
  const host = things.find(({ thingId }) => thingId === 'host')
  t.true(Number(host?.attrs['memory_total_bytes']) > 0)
  t.true(things.some(({ thingId }) => thingId === 'disk:root'))
  for (const { thingId } of things) t.regex(thingId, /^[A-Za-z0-9_:-]{1,64}$/)
})

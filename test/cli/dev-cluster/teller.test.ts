// Goal: one line an event, and trouble that lasts does not flood.

import test from 'ava'

import { clockIn } from '#src/cli/delivery-line'
import { Teller } from '#src/cli/dev-cluster/teller'

function start() {
  const lines: string[] = []
  const time = { nowMs: 1_700_000_000_007.5 }
  const print = (line: string): void => void lines.push(line)
  const teller = new Teller({ print, nowMs: () => time.nowMs, clock: clockIn('UTC') })
  return { teller, lines, time }
}

test('a line names the time, the source and the fact', (t) => {
  const { teller, lines } = start()
  teller.tell('node1', { kind: 'life', text: 'ready' })
  teller.tell('mariadb', { kind: 'trouble', text: 'died' })
  t.deepEqual(lines, ['22:13:20.007  node1    ready', '22:13:20.007  mariadb  died'])
})

test('the same trouble of the same node is told again only after a while', (t) => {
  const { teller, lines, time } = start()
  const trouble = { kind: 'trouble', text: 'no store' } as const
  const after = (elapsedMs: number, who: string): number => {
    time.nowMs += elapsedMs
    teller.tell(who, trouble)
    return lines.length
  }
  t.is(after(0, 'node1'), 1)
  t.is(after(0, 'node2'), 2)
  t.is(after(9_999, 'node1'), 2)
  t.is(after(1, 'node1'), 3)
})

test('a change of life is told each time, also when it is the same again', (t) => {
  const { teller, lines } = start()
  for (const text of ['ready', 'not ready', 'ready']) teller.tell('node1', { kind: 'life', text })
  t.is(lines.length, 3)
})

test('the memory of told trouble is bounded', (t) => {
  const { teller, lines } = start()
  for (let n = 0; n < 201; n += 1) teller.tell('node1', { kind: 'trouble', text: `trouble ${n}` })
  t.is(lines.length, 201)
  // The oldest was forgotten, the newest was not.
  teller.tell('node1', { kind: 'trouble', text: 'trouble 200' })
  t.is(lines.length, 201)
  teller.tell('node1', { kind: 'trouble', text: 'trouble 0' })
  t.is(lines.length, 202)
})

// Goal: each fact is one line, and a lasting problem does not fill the screen.

import test from 'ava'

import { clockIn } from '#src/cli/deliveries/delivery-line'
import { Reporter } from '#src/dev/cluster/dev-cluster'

function start() {
  const lines: string[] = []
  const time = { nowMs: 1_700_000_000_007.5 }
  const print = (line: string): void => void lines.push(line)
  const reporter = new Reporter({ print, nowMs: () => time.nowMs, clock: clockIn('UTC') })
  return { reporter, lines, time }
}

test('a line names the time, the source and the fact', (t) => {
  const { reporter, lines } = start()
  reporter.report('node1', { kind: 'change', text: 'ready' })
  reporter.report('mariadb', { kind: 'problem', text: 'died' })
  t.deepEqual(lines, ['22:13:20.007  node1    ready', '22:13:20.007  mariadb  died'])
})

test('the reporter repeats a problem of a node only after a while', (t) => {
  const { reporter, lines, time } = start()
  const problem = { kind: 'problem', text: 'no store' } as const
  const after = (elapsedMs: number, who: string): number => {
    time.nowMs += elapsedMs
    reporter.report(who, problem)
    return lines.length
  }
  t.is(after(0, 'node1'), 1)
  t.is(after(0, 'node2'), 2)
  t.is(after(9_999, 'node1'), 2)
  t.is(after(1, 'node1'), 3)
})

test('the reporter prints every change, also a repeated one', (t) => {
  const { reporter, lines } = start()
  for (const text of ['ready', 'not ready', 'ready'])
    reporter.report('node1', { kind: 'change', text })
  t.is(lines.length, 3)
})

test('the memory of printed problems is bounded', (t) => {
  const { reporter, lines } = start()
  for (let n = 0; n < 201; n += 1)
    reporter.report('node1', { kind: 'problem', text: `problem ${n}` })
  t.is(lines.length, 201)
  // The oldest was forgotten, the newest was not.
  reporter.report('node1', { kind: 'problem', text: 'problem 200' })
  t.is(lines.length, 201)
  reporter.report('node1', { kind: 'problem', text: 'problem 0' })
  t.is(lines.length, 202)
})

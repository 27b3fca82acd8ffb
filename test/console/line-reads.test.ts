// Goal: the lines of the overview are read for the Things that a person rests at, a few at once.
// Method: reads that the test answers, and a rest that it ends.

import test from 'ava'

import { LineReads } from '#console/state/past/line-reads.ts'
import { turn } from '#test/support/until'

/** Reads of a list, each with what ends it. */
function listed() {
  const asked: (readonly [attr: string, ids: readonly string[], answer: () => void])[] = []
  const begins: (() => void)[] = []
  const reads = new LineReads({
    rest: (begin) => begins.push(begin),
    read: (ids, attr) => new Promise((answer) => void asked.push([attr, ids, answer])),
  })
  return { reads, asked, begins }
}

const names = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from }, (_, at) => `boiler-${from + at}`)

test('lines are read once the list rests, twenty Things at once, the newest first', async (t) => {
  const { reads, asked, begins } = listed()
  for (const name of names(0, 30)) reads.want(name, 'temperature')
  t.deepEqual([asked.length, begins.length], [0, 1])
  begins[0]?.()
  t.deepEqual(
    asked.map(([, ids]) => ids),
    [names(10, 30)],
  )
  asked[0]?.[2]()
  await turn()
  t.deepEqual(asked[1]?.[1], names(0, 10))
})

test('one read follows the other, each of one attr, and what comes meanwhile is read as well', async (t) => {
  const { reads, asked, begins } = listed()
  reads.want('boiler-1', 'temperature')
  reads.want('pump-1', 'pressure')
  begins[0]?.()
  reads.want('boiler-2', 'temperature')
  for (let at = 0; at < 3; at += 1) {
    t.is(asked.length, at + 1, 'no second one at a time')
    asked[at]?.[2]()
    await turn()
  }
  t.deepEqual(
    asked.map(([attr, ids]) => [attr, ...ids]),
    [
      ['temperature', 'boiler-1'],
      ['pressure', 'pump-1'],
      ['temperature', 'boiler-2'],
    ],
  )
  reads.want('boiler-3', 'temperature')
  t.is(begins.length, 2, 'the next one waits for the list to rest')
})

test('of more than two hundred that wait the oldest are not read', async (t) => {
  const { reads, asked, begins } = listed()
  for (const name of names(0, 230)) reads.want(name, 'temperature')
  begins[0]?.()
  for (let at = 0; at < asked.length; at += 1) {
    asked[at]?.[2]()
    await turn()
  }
  const read = asked.flatMap(([, ids]) => ids)
  t.deepEqual(read.toSorted(), names(30, 230).toSorted())
})

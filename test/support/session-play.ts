// Plays one session: inputs with their times, outputs in words.

import type { ExecutionContext } from 'ava'

import { Session } from '#src/transports/session'
import type { Input } from '#src/transports/signals'
import type { Position } from '#domain/feed'
import { hello, inWords } from '#test/support/session-words'

export const START = 1_000_000

export const TICK: Input = { kind: 'tick' }

/** A session, and its outputs for each input, in words. */
export function begin(): {
  session: Session
  feed: (input: Input, afterMs?: number) => readonly string[]
} {
  const session = new Session(START, 1)
  const feed = (input: Input, afterMs = 0): readonly string[] =>
    inWords(session.handle(input, START + afterMs))
  return { session, feed }
}

/** A session that is served; gives the outputs behind the welcome. */
export function serve(positions: readonly Position[], helloMore: object = {}) {
  const { session, feed } = begin()
  feed(hello(helloMore))
  const [welcome = '', ...rest] = feed({
    kind: 'admitted',
    sessionId: 's',
    serverTime: 1,
    positions,
  })
  return { session, feed, welcome, rest }
}

export type Row = readonly [input: Input, afterMs: number, expected: readonly string[]]

export function play(
  t: ExecutionContext,
  rows: readonly Row[],
  feed: ReturnType<typeof begin>['feed'],
) {
  for (const [index, [input, afterMs, expected]] of rows.entries()) {
    t.deepEqual(feed(input, afterMs), [...expected], `row ${index}`)
  }
}

import test from 'ava'

import { foldedChanges } from '#src/client/folded-changes'
import type { ThingChanged } from '#src/client/replica'
import { foldThing } from '#src/client/view'
import type { ThingView } from '#src/client/view'

const view = (id: string, seq: number): ThingView | undefined =>
  foldThing(undefined, {
    seq,
    action: 'sync',
    entityId: id as never,
    state: 'active',
    rev: 1,
    payload: {},
  })
const change = (
  id: string,
  before: ThingView | undefined,
  after: ThingView | undefined,
): ThingChanged => ({ channelId: 'A', id, before, after })

// folded-changes/1
test('a Thing that changes many times between two frames changes once, from its first state to its last', (t) => {
  const frames: (() => void)[] = []
  const drawn: (readonly ThingChanged[])[] = []
  const listen = foldedChanges(
    (changes) => drawn.push(changes),
    (draw) => frames.push(draw),
  )
  const [one, two, three] = [view('a', 1), view('a', 2), view('a', 3)]
  listen(change('a', one, two))
  listen(change('b', undefined, view('b', 1)))
  listen(change('b', view('b', 1), undefined))
  listen(change('a', two, three))
  t.is(frames.length, 1, 'one frame is asked for')
  frames.shift()?.()
  t.deepEqual(drawn, [[change('a', one, three)]], 'what came and went is not drawn')
  listen(change('a', three, undefined))
  frames.shift()?.()
  t.deepEqual(drawn.at(-1), [change('a', three, undefined)])
  t.is(frames.length, 0)
})

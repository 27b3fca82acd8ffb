import test from 'ava'

import { BoundedItems } from '#domain/bounds/bounded-items'

function letters() {
  const items = new BoundedItems<string>()
  for (const id of ['a', 'b', 'c']) items.keep(id, id.toUpperCase(), 10)
  const kept = (): string => [...items.keys()].join('')
  return { items, kept }
}

test('bounded-items/1: the bytes are those of the items that are kept', (t) => {
  const { items, kept } = letters()
  t.deepEqual([items.bytes, items.size], [30, 3])
  items.keep('b', 'B', 1)
  t.is(items.bytes, 21)
  items.delete('a')
  items.delete('a')
  t.deepEqual([items.bytes, kept()], [11, 'cb'])
  t.deepEqual([...items.entries()].join(), 'c,C,b,B')
  items.clear()
  t.deepEqual([items.bytes, items.size], [0, 0])
})

test('bounded-items/2: beyond a bound the items that were used longest ago go', (t) => {
  const { items, kept } = letters()
  t.is(items.use('a'), 'A')
  t.is(items.get('b'), 'B') // This is no use.
  t.is(items.use('x'), undefined)
  items.keepWithin(30)
  t.is(kept(), 'bca')
  items.keepWithin(29)
  t.is(kept(), 'ca')
  const removed: string[] = []
  items.keepWithin(10, (id) => {
    removed.push(id)
    items.delete(id)
  })
  t.deepEqual([removed.join(), kept()], ['c', 'a'])
})

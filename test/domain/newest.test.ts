import test from 'ava'

import { keepNewest } from '#domain/bounds/newest'

for (const { items, max, left } of [
  { items: ['a', 'b', 'c'], max: 3, left: ['a', 'b', 'c'] },
  { items: ['a', 'b', 'c'], max: 2, left: ['b', 'c'] },
  { items: ['a', 'b', 'c'], max: 0, left: [] },
]) {
  test(`of ${items.length} items the newest ${max} stay, in a set and in a map`, (t) => {
    const set = new Set(items)
    const map = new Map(items.map((item) => [item, 1]))
    keepNewest(set, max)
    keepNewest(map, max)
    t.deepEqual([...set], left)
    t.deepEqual([...map.keys()], left)
  })
}

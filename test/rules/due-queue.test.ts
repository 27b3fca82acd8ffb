// Goal: what is due comes in the order of its times, and those of one time as they were added.

import test from 'ava'
import * as fc from 'fast-check'

import { DueQueue } from '#src/rules/due-queue'

test('due-queue/1: items come in the order of time and addition, up to the time that is asked for', (t) => {
  const commands = fc.array(fc.record({ due: fc.nat(9), by: fc.integer({ min: -1, max: 9 }) }), {
    maxLength: 60,
  })
  fc.assert(
    fc.property(commands, (played) => {
      const queue = new DueQueue<number>()
      let model: { due: number; item: number }[] = []
      for (const [item, { due, by }] of played.entries()) {
        queue.add(due, item)
        model = [...model, { due, item }].toSorted((a, b) => a.due - b.due || a.item - b.item)
        if (item % 3 === 0) continue
        const taken = queue.take(by)
        const wanted = model[0] !== undefined && model[0].due <= by ? model.shift() : undefined
        t.is(taken?.item, wanted?.item)
        t.is(taken?.due, wanted?.due)
      }
      for (const { item } of model) t.is(queue.take(9)?.item, item)
      t.is(queue.take(9), undefined)
    }),
  )
})

import * as fc from 'fast-check'
import test from 'ava'

import { GATHERED_BYTES_MIN, Gathered } from '#domain/bounds/gathered'

const pieces = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 40 })

test('gathered/1: bytes are the same however they come and are taken, in at most twice their memory', (t) => {
  const property = fc.property(pieces, fc.array(fc.nat(400)), (given, takes) => {
    const gathered = new Gathered()
    const taken: Buffer[] = []
    const all = Buffer.concat(given)
    for (const [index, piece] of given.entries()) {
      gathered.add(piece)
      const length = Math.min(takes[index] ?? 0, gathered.length)
      taken.push(gathered.take(length))
      gathered.settle()
      t.true(gathered.heldBytes <= Math.max(GATHERED_BYTES_MIN, 2 * gathered.length))
    }
    taken.push(gathered.take())
    t.deepEqual(Buffer.concat(taken), all) // gathered/2: also what was taken long before
    t.is(gathered.heldBytes, 0)
  })
  t.notThrows(() => fc.assert(property))
})

test('gathered/1: one-byte pieces are copied a few times each, not once for each that follows', (t) => {
  const gathered = new Gathered()
  let moved = 0
  for (let count = 0; count < 100_000; count += 1) {
    const { heldBytes, length } = gathered
    gathered.add(Buffer.from([count & 255]))
    if (gathered.heldBytes !== heldBytes) moved += length
  }
  t.is(gathered.length, 100_000)
  t.true(moved < 200_000, `${moved} bytes were moved`)
})

test('gathered/2: what was taken stays as it is', (t) => {
  const gathered = new Gathered()
  gathered.add(Buffer.from('one'))
  gathered.add(Buffer.from('two'))
  const one = gathered.take(3)
  gathered.add(Buffer.alloc(2_000, 'x'))
  gathered.settle()
  t.is(one.toString(), 'one')
  const two = gathered.take(1_990)
  gathered.settle()
  gathered.add(Buffer.alloc(100, 'y'))
  t.is(two.toString(), `two${'x'.repeat(1_987)}`)
})

test('a piece that is adopted is not copied, and memory does not grow beyond what is expected', (t) => {
  const gathered = new Gathered()
  const piece = Buffer.from('abcdef')
  gathered.adopt(piece)
  t.is(gathered.take(3).buffer, piece.buffer)
  gathered.clear()
  gathered.add(Buffer.alloc(600), 1_000)
  t.is(gathered.heldBytes, 1_000)
  gathered.add(Buffer.alloc(600), 1_000)
  t.is(gathered.heldBytes, 1_200)
})

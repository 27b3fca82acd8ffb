import * as fc from 'fast-check'
import test from 'ava'

import { FrameReader, framesOf } from '#src/transports/carriers/framing'
import { framed } from '#test/support/framed-client'

/** The texts and the broken rule of bytes that come in pieces. */
function readAll(pieces: readonly Buffer[]): { texts: string[]; broken: string | undefined } {
  const reader = new FrameReader()
  const texts: string[] = []
  for (const piece of pieces) {
    const broken = reader.read(piece, (text) => texts.push(text))
    if (broken !== undefined) return { texts, broken }
  }
  return { texts, broken: undefined }
}

/** Bytes cut at these places. */
function cut(bytes: Buffer, places: readonly number[]): readonly Buffer[] {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length]
  const ends = sorted.toSorted((a, b) => a - b)
  return ends.slice(1).map((end, index) => bytes.subarray(ends[index], end))
}

test('a reader gives the same frames, however their bytes are cut', (t) => {
  const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 200 }), { maxLength: 8 })
  const property = fc.property(texts, fc.array(fc.nat(), { maxLength: 20 }), (given, places) => {
    const bytes = framesOf(given)
    t.deepEqual(bytes, Buffer.concat(given.map(framed)))
    t.deepEqual(readAll(cut(bytes, places)), { texts: given, broken: undefined })
  })
  t.notThrows(() => fc.assert(property))
})

test('a frame has at most 65,536 bytes, whatever its length says, and is UTF-8', (t) => {
  const most = 'x'.repeat(65_536)
  t.deepEqual(readAll([framed(most)]), { texts: [most], broken: undefined })
  t.deepEqual(readAll([framed('a'), framed(`${most}x`).subarray(0, 4)]), {
    texts: ['a'],
    broken: 'frame-too-big',
  })
  t.is(readAll([Buffer.from('ffffffff', 'hex')]).broken, 'frame-too-big')
  const noText = Buffer.concat([Buffer.from('00000002', 'hex'), Buffer.from('c328', 'hex')])
  t.deepEqual(readAll([framed('a'), noText]), { texts: ['a'], broken: 'not-text' })
})

test('framing/1: a length without its bytes reserves almost no memory', (t) => {
  const piece = framed('x'.repeat(65_536)).subarray(0, 20)
  const readers = Array.from({ length: 2_000 }, () => new FrameReader())
  const before = process.memoryUsage().arrayBuffers
  for (const reader of readers) reader.read(piece, () => t.fail())
  const perReader = (process.memoryUsage().arrayBuffers - before) / readers.length
  t.true(perReader < 8_192, `${perReader} bytes`)
  // They are alive until here.
  t.is(readers.length, 2_000)
})

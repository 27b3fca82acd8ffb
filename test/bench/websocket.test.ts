import test from 'ava'

import { frameAt, frameOf } from './load/websocket.ts'

const TEXT = 0x81

function serverFrame(payload: Buffer): Buffer {
  const { length } = payload
  if (length < 126) return Buffer.concat([Buffer.from([TEXT, length]), payload])
  const head = Buffer.alloc(length < 65_536 ? 4 : 10)
  head[0] = TEXT
  head[1] = length < 65_536 ? 126 : 127
  if (length < 65_536) head.writeUInt16BE(length, 2)
  else head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, payload])
}

for (const length of [0, 1, 125, 126, 65_535, 65_536, 200_000]) {
  test(`a frame of ${length} bytes is found whole, and not before its last byte`, (t) => {
    const bytes = Buffer.concat([Buffer.from('..'), serverFrame(Buffer.alloc(length, 'x'))])
    const found = frameAt(bytes, 2)
    t.is((found?.to ?? 0) - (found?.from ?? 0), length)
    t.is(found?.to, bytes.length)
    t.is(frameAt(bytes.subarray(0, -1), 2), undefined)
  })
}

test('a client frame carries the mask bit and the payload as it is', (t) => {
  for (const length of [0, 125, 126, 300]) {
    const frame = frameOf(TEXT, Buffer.alloc(length, 'y'))
    t.is((frame[1] ?? 0) & 128, 128)
    t.is(frame.subarray(-length || frame.length).toString(), 'y'.repeat(length))
  }
})

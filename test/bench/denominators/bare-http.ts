// D1: bare uWebSockets.js. Parses the JSON of a POST and answers; keeps nothing. No gateway on this
// machine can be faster.
//
// The answer has the same headers and as many bytes as the product's 200: sending and reading it is
// work, and a shorter answer would make the denominator faster than any that names its operation.

import { App } from 'uWebSockets.js'
import { announceListening, httpPort } from './listening.ts'

const REQUEST_ID = '0'.repeat(32)
const OP_ID = `${'0'.repeat(13)}-${'0'.repeat(32)}`

const app = App()

app.post('/*', (response) => {
  const chunks: Buffer[] = []
  response.onAborted(() => undefined)
  response.onData((chunk, isLast) => {
    if (!isLast) {
      chunks.push(Buffer.from(new Uint8Array(chunk)))
      return
    }
    const last = Buffer.from(chunk)
    // Unchecked beyond its syntax: checks are what a gateway adds.
    const sent = JSON.parse(
      (chunks.length === 0 ? last : Buffer.concat([...chunks, last])).toString(),
    ) as { readonly thing_id: string }
    response
      .writeHeader('content-type', 'application/json; charset=utf-8')
      .writeHeader('cache-control', 'no-store')
      .writeHeader('x-request-id', REQUEST_ID)
      .end(`{"success":true,"data":{"op_id":"${OP_ID}","thing_id":"${sent.thing_id}"}}`)
  })
})

app.listen('127.0.0.1', httpPort(), (socket) =>
  announceListening(socket !== false, () => app.close()),
)

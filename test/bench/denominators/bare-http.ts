// D1: bare uWebSockets.js. Parses the JSON of a POST and answers; keeps nothing. What no gateway on
// this machine can beat.

import { App } from 'uWebSockets.js'
import { announceListening, httpPort } from './listening.ts'

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
    const body: unknown = JSON.parse(
      (chunks.length === 0 ? last : Buffer.concat([...chunks, last])).toString(),
    )
    response
      .writeHeader('content-type', 'application/json')
      .end(body === null ? '{"success":false}' : '{"success":true,"data":{}}')
  })
})

app.listen('127.0.0.1', httpPort(), (socket) =>
  announceListening(socket !== false, () => app.close()),
)

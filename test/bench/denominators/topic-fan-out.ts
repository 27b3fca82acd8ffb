// D7: the topics of uWebSockets.js. Publishes frames of a size to every WebSocket as fast as they
// are taken; keeps nothing and hears nothing. A device here has no position of its own, so nothing
// is decided for one of them alone.

import { App } from 'uWebSockets.js'
import type { WebSocket } from 'uWebSockets.js'

import { announceListening, httpPort } from './listening.ts'

const TOPIC = 'all'
/** Frames that are published before the loop looks at what is held. */
const AT_ONCE = 64
const HELD_BYTES_MAX = 2 ** 20

const subscribers = new Set<WebSocket<object>>()
let seq = 0

/** Bytes of the product's frame for an update of 302 bytes. */
const frame = (bytes: number): string => {
  seq += 1
  const head = `{"type":"deliver","channel_id":"all","seq":${seq},"op_id":"x","payload":"`
  return `${head.padEnd(bytes - 2, 'y')}"}`
}

const isFull = (): boolean =>
  [...subscribers].some((subscriber) => subscriber.getBufferedAmount() > HELD_BYTES_MAX)

const app = App()

app.ws<object>('/*', {
  maxBackpressure: 64 * HELD_BYTES_MAX,
  open: (subscriber) => {
    subscribers.add(subscriber)
    subscriber.subscribe(TOPIC)
  },
  message: (subscriber) => {
    subscriber.send('{"type":"welcome"}')
  },
  close: (subscriber) => {
    subscribers.delete(subscriber)
  },
})

/** Publishes until the time is over; answers how many frames there were. */
app.get('/publish/:milliseconds/:bytes', (response, request) => {
  const endMs = performance.now() + Number(request.getParameter(0))
  const bytes = Number(request.getParameter(1))
  const before = seq
  response.onAborted(() => undefined)
  const publish = (): void => {
    if (performance.now() >= endMs) {
      response.cork(() => response.end(String(seq - before)))
      return
    }
    if (isFull()) {
      setTimeout(publish, 1)
      return
    }
    for (let count = 0; count < AT_ONCE; count += 1) app.publish(TOPIC, frame(bytes))
    setImmediate(publish)
  }
  publish()
})

app.listen('127.0.0.1', httpPort(), (socket) =>
  announceListening(socket !== false, () => app.close()),
)

// D4: the whole path as one straight line, as fast as that can be. uWebSockets.js parses; one
// worker thread appends to a log in SQLite with an fsync before each answer; a second one applies
// to things, feed, operations and the lane's position in one transaction a turn; then one WSS
// subscriber gets each entry as a frame.
//
// Left out, because a gateway adds it: credentials, validation beyond JSON.parse, lifecycles, late
// data, idempotency, leases, catch-up, acknowledgements, bounds.

import { randomBytes } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { App } from 'uWebSockets.js'
import type { HttpResponse, WebSocket } from 'uWebSockets.js'
import { announceListening, httpPort } from './listening.ts'
import type { Applied, LoggedBatch, Submission } from './straight-line-store.ts'

interface SentUpdate {
  readonly channel_id: string
  readonly thing_id: string
  readonly observed_at: number
  readonly title: string
  readonly attrs: Readonly<Record<string, unknown>>
}

interface Waiting {
  readonly response: HttpResponse
  isGone: boolean
  readonly answer: string
}

const databasePath = process.env['SERVICE_DATABASE_URL']?.replace('sqlite:', '') ?? ''
const log = new Worker(new URL('straight-line-log.ts', import.meta.url), {
  workerData: databasePath,
})
const store = new Worker(new URL('straight-line-store.ts', import.meta.url), {
  workerData: databasePath,
})
const prefix = randomBytes(8).toString('hex')
let made = 0
let applied = 0
let subscriber: WebSocket<unknown> | undefined
let isAppending = false
let submissions: Submission[] = []
let waiting: Waiting[] = []
let appending: Waiting[] = []
let inLog: LoggedBatch | undefined

function accept(response: HttpResponse, body: Buffer): Waiting {
  // Unchecked beyond its syntax: checks are what a gateway adds.
  const sent = JSON.parse(body.toString('latin1')) as SentUpdate
  const { channel_id, thing_id, observed_at, title, attrs } = sent
  const now = Date.now()
  made += 1
  const op = `${now.toString(16).padStart(13, '0')}-${prefix}${made.toString(16).padStart(16, '0')}`
  submissions.push([op, channel_id, thing_id, observed_at, now, title, attrs])
  const answer = `{"success":true,"data":{"op_id":"${op}","thing_id":"${thing_id}"}}`
  const one: Waiting = { response, isGone: false, answer }
  waiting.push(one)
  return one
}

/**
 * Everything that has come since the last append goes with the next: group commit without a timer.
 */
function flush(): void {
  if (isAppending || submissions.length === 0) return
  isAppending = true
  inLog = { payload: JSON.stringify(submissions), count: submissions.length }
  submissions = []
  appending = waiting
  waiting = []
  log.postMessage(inLog)
}

function answerAppended(): void {
  store.postMessage(inLog)
  const durable = appending
  appending = []
  isAppending = false
  flush()
  for (const { response, isGone, answer } of durable) {
    if (isGone) continue
    response.cork(() => response.writeHeader('content-type', 'application/json').end(answer))
  }
}

function deliver({ frames, ends }: Applied): void {
  applied += ends.length
  subscriber?.cork(() => {
    let start = 0
    for (const end of ends) {
      subscriber?.send(frames.subarray(start, end), false)
      start = end
    }
  })
}

log.on('message', answerAppended)
store.on('message', deliver)

const app = App()

app.post('/*', (response) => {
  let one: Waiting | undefined
  response.onAborted(() => {
    if (one !== undefined) one.isGone = true
  })
  let held: Buffer | undefined
  response.onData((chunk, isLast) => {
    const part = Buffer.from(chunk)
    if (!isLast) {
      held = Buffer.concat(held === undefined ? [part] : [held, part])
      return
    }
    one = accept(response, held === undefined ? part : Buffer.concat([held, part]))
    if (waiting.length === 1) setImmediate(flush)
  })
})

app.get('/metrics', (response) => {
  response.end(`heliograph_operations_total{status="sent"} ${applied}\n`)
})

app.ws('/private/ws', {
  maxBackpressure: 256 * 1024 * 1024,
  open: () => undefined,
  message: (socket, text) => {
    if (Buffer.from(text).includes('"hello"')) {
      socket.send('{"type":"welcome","channels":[]}')
      subscriber = socket
    }
  },
  close: () => {
    subscriber = undefined
  },
})

app.listen('127.0.0.1', httpPort(), (socket) =>
  announceListening(socket !== false, () => {
    app.close()
  }),
)

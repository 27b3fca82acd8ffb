// The frontend of both D4: uWebSockets.js parses and answers, submissions are grouped for an
// append, and one WSS subscriber gets each entry as a frame.
//
// Left out, because a gateway adds it: credentials, validation beyond JSON.parse, lifecycles, late
// data, idempotency, leases, catch-up, acknowledgements, bounds.

import { randomBytes } from 'node:crypto'
import { App } from 'uWebSockets.js'
import type { HttpResponse, WebSocket } from 'uWebSockets.js'
import { announceListening, httpPort } from './listening.ts'
import type { Applied, LoggedBatch, Submission } from './straight-line-fold.ts'

export interface FrontOptions {
  /** Hands on a group; `appended` must be called once it is durable. */
  readonly append: (batch: LoggedBatch) => void
  /** From one append to the next, at least: where an append is quick, larger groups are cheaper. */
  readonly restMs: number
}

export interface Front {
  /** The group that is under way is durable. */
  appended(): void
  deliver(applied: Applied): void
}

/** A channel's name in a frame has as many characters as the product's. */
const NAME_CHARACTERS = 26

interface SentUpdate {
  /** A key names its channel. */
  readonly password: string
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

const prefix = randomBytes(8).toString('hex')
let appending: Waiting[] = []
let made = 0
let applied = 0
let subscriber: WebSocket<unknown> | undefined
let submissions: Submission[] = []
let waiting: Waiting[] = []

function accept(response: HttpResponse, body: Buffer): Waiting {
  // Unchecked beyond its syntax: checks are what a gateway adds.
  const sent = JSON.parse(body.toString('latin1')) as SentUpdate
  const { password: key, thing_id, observed_at, title, attrs } = sent
  const now = Date.now()
  made += 1
  const op = `${now.toString(16).padStart(13, '0')}-${prefix}${made.toString(16).padStart(16, '0')}`
  submissions.push([op, key.slice(-NAME_CHARACTERS), thing_id, observed_at, now, title, attrs])
  const answer = `{"success":true,"data":{"op_id":"${op}","thing_id":"${thing_id}"}}`
  const one: Waiting = { response, isGone: false, answer }
  waiting.push(one)
  return one
}

/** Listens; call once in a process. */
export function startFront({ append, restMs }: FrontOptions): Front {
  let isResting = false

  /** Appends everything that has come since the last append; one append is under way at a time. */
  function flush(): void {
    if (isResting || appending.length > 0 || submissions.length === 0) return
    if (restMs > 0) {
      isResting = true
      setTimeout(() => {
        isResting = false
        flush()
      }, restMs)
    }
    const batch = { payload: JSON.stringify(submissions), count: submissions.length }
    submissions = []
    appending = waiting
    waiting = []
    append(batch)
  }

  listen(flush)
  return {
    appended: () => {
      const durable = appending
      appending = []
      flush()
      answerAll(durable)
    },
    deliver,
  }
}

function answerAll(durable: readonly Waiting[]): void {
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

function listen(flush: () => void): void {
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
    announceListening(socket !== false, () => app.close()),
  )
}

// D4 of the embedded engine: the whole path as one straight line, as fast as possible. The frontend
// parses; one worker thread appends to a log in SQLite with an fsync before each answer; a second
// one applies to things, feed, operations and the lane's position in one transaction a turn; then
// the frontend sends each entry as a frame.

import { Worker } from 'node:worker_threads'
import { startFront } from './straight-line-front.ts'
import type { Applied, LoggedBatch } from './straight-line-fold.ts'

const databasePath = process.env['SERVICE_DATABASE_URL']?.replace('sqlite:', '') ?? ''
const thread = (script: string): Worker =>
  new Worker(new URL(script, import.meta.url), { workerData: databasePath })
const log = thread('straight-line-log.ts')
const store = thread('straight-line-store.ts')
let inLog: LoggedBatch | undefined

const front = startFront({
  append: (batch) => {
    inLog = batch
    log.postMessage(batch)
  },
  restMs: 0,
})

log.on('message', () => {
  store.postMessage(inLog)
  front.appended()
})
store.on('message', (applied: Applied) => front.deliver(applied))

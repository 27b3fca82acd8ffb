// D4's log thread: one append, one fsync (COMMIT under synchronous=FULL), one answer.

import { parentPort, workerData } from 'node:worker_threads'
import { SqliteConnection as Database } from '#src/store/sqlite/connection'
import type { LoggedBatch } from './straight-line-fold.ts'

const db = new Database(`${String(workerData)}-log`)
db.exec(`
  PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=4000;
  CREATE TABLE log (position INTEGER PRIMARY KEY, count INT, payload TEXT);
`)
const insert = db.prepare('INSERT INTO log (count, payload) VALUES (?, ?)')

parentPort?.on('message', ({ count, payload }: LoggedBatch) => {
  insert.run(count, payload)
  parentPort?.postMessage('appended')
})

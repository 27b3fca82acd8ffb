// D4 of the cluster: the same straight line over NATS and MariaDB. The frontend publishes each
// group as one message into JetStream and answers at its confirmation; a worker thread consumes the
// stream over a connection of its own and writes each turn as one transaction.

import { randomBytes } from 'node:crypto'
import { Worker } from 'node:worker_threads'

import { RetentionPolicy, StorageType, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { startFront } from './straight-line-front.ts'
import type { Applied } from './straight-line-fold.ts'

const SUBJECT = 'straight.lane'
const STREAM = 'STRAIGHT'

const natsUrl = process.env['SERVICE_NATS_URL'] ?? ''
const nats = await connect({ servers: natsUrl, noAsyncTraces: true })
const manager = await jetstreamManager(nats, { checkAPI: false })
await manager.streams.add({
  name: STREAM,
  subjects: [SUBJECT],
  storage: StorageType.File,
  retention: RetentionPolicy.Limits,
})

const store = new Worker(new URL('straight-line-cluster-store.ts', import.meta.url), {
  workerData: { natsUrl, stream: STREAM, databaseUrl: process.env['SERVICE_DATABASE_URL'] ?? '' },
})
// The store says once that it consumes; everything behind that is what it applied.
await new Promise((resolve) => store.once('message', resolve))

const inbox = `_INBOX.${randomBytes(12).toString('hex')}`
const encoder = new TextEncoder()
const front = startFront({
  append: ({ payload, count }) =>
    nats.publish(SUBJECT, encoder.encode(`${count} ${payload}`), { reply: inbox }),
  restMs: 4,
})
nats.subscribe(inbox, {
  callback: (error, message) => {
    if (error !== null || !message.string().includes('"seq":')) throw new Error('not appended')
    front.appended()
  },
})
store.on('message', (applied: Applied) => front.deliver(applied))

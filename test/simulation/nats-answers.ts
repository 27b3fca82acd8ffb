// The answers of the simulated JetStream, in the form of its API.

import type { Consumer, Stored, Stream } from './jetstream.ts'
import { MemoryMessage } from './nats-message.ts'
import { EPOCH_MS } from './virtual-runtime.ts'

export type Json = Readonly<Record<string, unknown>>

const encoder = new TextEncoder()

export const answer = (body: Json): MemoryMessage =>
  new MemoryMessage('', encoder.encode(JSON.stringify(body)))

export const infoOf = (stream: Stream): Json => ({
  config: stream.config,
  created: new Date(EPOCH_MS).toISOString(),
  state: {
    messages: stream.size,
    bytes: stream.bytes,
    first_seq: stream.first,
    last_seq: stream.last,
    consumer_count: stream.consumers.size,
  },
})

export const timeOf = ({ atMs }: Stored): string =>
  new Date(EPOCH_MS + Math.floor(atMs)).toISOString()

export const recordOf = (stored: Stored): Json => ({
  subject: stored.subject,
  seq: stored.seq,
  data: Buffer.from(stored.data).toString('base64'),
  time: timeOf(stored),
})

/** The message that is asked for, as it was so many milliseconds ago. */
export function messageOf(stream: Stream, query: Json, agoMs = 0): Stored | undefined {
  const { last_by_subj: last, next_by_subj: next, seq } = query
  if (typeof last === 'string') return stream.lastBySubject(last, agoMs)
  const found =
    typeof next === 'string' ? stream.nextBySubject(next, Number(seq)) : stream.at(Number(seq))
  return found !== undefined && stream.isOlder(found, agoMs) ? found : undefined
}

export function deliveryOf(stream: Stream, consumer: Consumer, stored: Stored): MemoryMessage {
  const nanos = `${EPOCH_MS + Math.floor(stored.atMs)}000000`
  const place = `${stored.seq}.${consumer.delivered}.${nanos}.${consumer.backlog.length}`
  const reply = `$JS.ACK.${stream.config.name}.${consumer.name}.1.${place}`
  return new MemoryMessage(stored.subject, stored.data, { reply, values: stored.headers })
}

// A simulated NATS server with JetStream: the wire interface that the product's own client code
// uses, over streams in memory.

import { matches, Stream } from './jetstream.ts'
import type { Consumer, StreamConfig } from './jetstream.ts'
import type { NatsClient } from './nats-client.ts'
import { answer, deliveryOf, infoOf, messageOf, recordOf, timeOf } from './nats-answers.ts'
import type { Json } from './nats-answers.ts'
import { MemoryMessage } from './nats-message.ts'
import type { VirtualTime } from './virtual-time.ts'

/** What may go wrong with JetStream. */
export interface StreamFaults {
  /** Milliseconds until an append is synced. What is not synced yet may be lost. */
  readonly syncMs: () => number
  /** True for an answer that gets lost. */
  readonly losesAnswer: () => boolean
  /** True for an entry that a consumer loses. */
  readonly losesDelivery: () => boolean
  /** True for a message outside of the streams that a receiver loses. */
  readonly losesMessage: () => boolean
  /** False while the servers elect a leader: nothing is answered. */
  readonly hasLeader: () => boolean
  /** True for what is lost when a leader goes with appends that are not synced. */
  readonly losesAppend: () => boolean
}

type Respond = (message: MemoryMessage) => void

const HEARTBEAT_MS = 500
/** The subjects of lanes and of key-value buckets. */
const STORED = /^(?:heliograph\.lane|\$KV)\./
const NOT_FOUND = { code: 404, err_code: 10_059, description: 'stream not found' }
const EXISTS = { code: 400, err_code: 10_058, description: 'stream name already in use' }
const NO_MESSAGE = { code: 404, err_code: 10_037, description: 'no message found' }
const NO_CONSUMER = { code: 404, err_code: 10_014, description: 'consumer not found' }

const decoder = new TextDecoder()
const NOTHING = new Uint8Array()

/** An append that waits for the disk. */
interface Unsynced {
  readonly run: () => void
  isLost: boolean
}

export class NatsServer {
  readonly clients = new Set<NatsClient>()
  readonly #time: VirtualTime
  readonly #faults: StreamFaults
  readonly #streams = new Map<string, Stream>()
  #unsynced = new Set<Unsynced>()
  /** The end of the latest sync: appends are synced in their order. */
  #syncedAt = 0

  constructor(time: VirtualTime, faults: StreamFaults) {
    this.#time = time
    this.#faults = faults
  }

  /** What a stream holds, for a judge. */
  stream(name: string): Stream | undefined {
    return this.#streams.get(name)
  }

  /** The leader goes, or the power: each append that is not synced is lost or comes later. */
  loseUnsynced(): void {
    for (const unsynced of this.#unsynced) unsynced.isLost = this.#faults.losesAppend()
    for (const { consumers } of this.#streams.values()) consumers.clear()
  }

  /** A message that a client has sent. `respond` is there for a request. */
  take(from: NatsClient, message: MemoryMessage, respond?: Respond): void {
    const { subject } = message
    if (subject.startsWith('$JS.API.')) return this.#api(from, message, respond)
    const stream = this.#streamOf(subject)
    if (stream !== undefined) return this.#append(stream, message, respond)
    let receivers = 0
    for (const client of this.clients) {
      if (client === from) continue
      receivers += this.#faults.losesMessage() ? 1 : client.deliver(message)
    }
    if (receivers === 0 && message.reply !== '') {
      from.deliver(new MemoryMessage(message.reply, NOTHING, { code: 503, description: '' }))
    }
  }

  #streamOf(subject: string): Stream | undefined {
    // Most messages are of the bus, which no stream stores.
    if (!STORED.test(subject)) return undefined
    for (const stream of this.#streams.values()) {
      if (stream.config.subjects.some((filter) => matches(filter, subject))) return stream
    }
    return undefined
  }

  #append(stream: Stream, message: MemoryMessage, respond?: Respond): void {
    if (!this.#faults.hasLeader()) return
    const unsynced: Unsynced = {
      isLost: false,
      run: () => {
        this.#unsynced.delete(unsynced)
        if (!unsynced.isLost) this.#store(stream, message, respond)
      },
    }
    this.#unsynced.add(unsynced)
    this.#syncedAt = Math.max(this.#syncedAt, this.#time.now + this.#faults.syncMs())
    this.#time.after(this.#syncedAt - this.#time.now, unsynced.run)
  }

  #store(stream: Stream, { subject, data, values }: MemoryMessage, respond?: Respond): void {
    const outcome = stream.publish(subject, data, values, this.#time.now)
    if ('subject' in outcome) {
      for (const consumer of stream.consumers.values()) {
        if (!matches(consumer.filter, subject)) continue
        consumer.backlog.push(outcome)
        this.#serve(stream, consumer)
      }
    }
    if (respond === undefined || this.#faults.losesAnswer()) return
    const name = stream.config.name
    respond(
      'code' in outcome
        ? answer({ error: { code: 400, err_code: outcome.code, description: outcome.description } })
        : answer({
            stream: name,
            seq: outcome.seq,
            ...('duplicate' in outcome && { duplicate: true }),
          }),
    )
  }

  #api(from: NatsClient, { subject, data, reply }: MemoryMessage, respond?: Respond): void {
    if (!this.#faults.hasLeader()) return
    const [, , kind = '', action = '', ...rest] = subject.split('.')
    const text = decoder.decode(data)
    if (kind === 'CONSUMER' && action === 'MSG') {
      return this.#pull(
        { stream: rest[1] ?? '', consumer: rest[2] ?? '', inbox: reply },
        from,
        text,
      )
    }
    if (kind === 'DIRECT') {
      const direct = this.#direct(rest, text)
      if (!this.#faults.losesAnswer()) respond?.(direct)
      return
    }
    const asked = text === '' ? {} : (JSON.parse(text) as Json)
    const found = this.#call(`${kind}.${action}`, { rest, asked, from })
    if (!this.#faults.losesAnswer()) respond?.(answer(found))
  }

  #call(
    call: string,
    { rest, asked, from }: { rest: readonly string[]; asked: Json; from: NatsClient },
  ): Json {
    const name = (call === 'STREAM.MSG' ? rest[1] : rest[0]) ?? ''
    const stream = this.#streams.get(name)
    if (call === 'STREAM.CREATE') {
      if (stream !== undefined) {
        const isSame = JSON.stringify(stream.config) === JSON.stringify(asked)
        return isSame ? infoOf(stream) : { error: EXISTS }
      }
      const made = new Stream(asked as StreamConfig, this.#time)
      this.#streams.set(name, made)
      return infoOf(made)
    }
    if (stream === undefined) return { error: NOT_FOUND }
    switch (call) {
      case 'STREAM.INFO':
        return infoOf(stream)
      case 'STREAM.UPDATE':
        stream.config = asked as StreamConfig
        return infoOf(stream)
      case 'STREAM.PURGE':
        return {
          success: true,
          purged: stream.purge(String(asked['filter']), Number(asked['seq'])),
        }
      case 'STREAM.MSG': {
        const found = messageOf(stream, asked)
        return found === undefined ? { error: NO_MESSAGE } : { message: recordOf(found) }
      }
      case 'CONSUMER.CREATE':
        return this.#consume(stream, asked['config'] as Json, from)
      case 'CONSUMER.DELETE':
        stream.consumers.delete(rest[1] ?? '')
        return { success: true }
      default:
        throw new Error(`the simulated JetStream does not know ${call}`)
    }
  }

  #direct([name = '', ...subject]: readonly string[], text: string): MemoryMessage {
    const stream = this.#streams.get(name)
    const query = text === '' ? { last_by_subj: subject.join('.') } : (JSON.parse(text) as Json)
    const found = stream && messageOf(stream, query)
    if (found === undefined) {
      return new MemoryMessage('', NOTHING, { code: 404, description: 'Message Not Found' })
    }
    return new MemoryMessage('', found.data, {
      values: {
        ...found.headers,
        'Nats-Stream': name,
        'Nats-Subject': found.subject,
        'Nats-Sequence': String(found.seq),
        'Nats-Time-Stamp': timeOf(found),
      },
    })
  }

  #consume(stream: Stream, config: Json, client: NatsClient): Json {
    const filter = String(config['filter_subject'])
    const from =
      config['deliver_policy'] === 'last_per_subject' ? 'newest' : Number(config['opt_start_seq'])
    const name = String(config['name'])
    const backlog = stream.backlog(filter, from)
    stream.consumers.set(name, {
      name,
      filter,
      client,
      backlog,
      delivered: 0,
      request: undefined,
    })
    return { name, stream_name: stream.config.name, config, num_pending: backlog.length }
  }

  #pull(
    { stream: name, consumer, inbox }: Readonly<Record<'stream' | 'consumer' | 'inbox', string>>,
    client: NatsClient,
    text: string,
  ): void {
    const stream = this.#streams.get(name)
    const known = stream?.consumers.get(consumer)
    if (stream === undefined || known === undefined) {
      client.deliver(
        new MemoryMessage(inbox, NOTHING, { code: 503, description: NO_CONSUMER.description }),
      )
      return
    }
    const {
      batch,
      max_bytes: bytes,
      expires,
    } = JSON.parse(text) as Readonly<Record<string, number>>
    const untilMs = this.#time.now + (expires ?? 0) / 1e6
    known.request = { inbox, left: batch ?? 1, bytes: bytes ?? 0, untilMs }
    this.#serve(stream, known)
    this.#beat(stream, known, known.request)
  }

  /** Heartbeats of an open request, and its end. */
  #beat(stream: Stream, consumer: Consumer, request: NonNullable<Consumer['request']>): void {
    this.#time.after(HEARTBEAT_MS, () => {
      const client = consumer.client as NatsClient
      if (consumer.request !== request || !client.isHere) return
      if (stream.consumers.get(consumer.name) !== consumer) return
      const isOver = this.#time.now >= request.untilMs
      if (isOver) consumer.request = undefined
      const status = isOver
        ? { code: 408, description: 'Request Timeout' }
        : { code: 100, description: 'Idle Heartbeat' }
      if (this.#faults.hasLeader())
        client.deliver(new MemoryMessage(request.inbox, NOTHING, status))
      if (!isOver) this.#beat(stream, consumer, request)
    })
  }

  /** Delivers what waits, as far as the open request allows. */
  #serve(stream: Stream, consumer: Consumer): void {
    const { request, backlog } = consumer
    const client = consumer.client as NatsClient
    if (!client.isHere) return void stream.consumers.delete(consumer.name)
    if (request === undefined) return
    while (request.left > 0) {
      const [next] = backlog
      if (next === undefined) return
      if (!stream.holds(next)) {
        backlog.shift()
        continue
      }
      if (next.data.length > request.bytes) {
        consumer.request = undefined
        const status = { code: 409, description: 'Message Size Exceeds MaxBytes' }
        client.deliver(new MemoryMessage(request.inbox, NOTHING, status))
        return
      }
      backlog.shift()
      request.left -= 1
      request.bytes -= next.data.length
      consumer.delivered += 1
      if (request.left === 0) consumer.request = undefined
      if (this.#faults.losesDelivery()) continue
      client.deliver(deliveryOf(stream, consumer, next), request.inbox)
    }
  }
}

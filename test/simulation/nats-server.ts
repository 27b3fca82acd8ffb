// A simulated NATS server with JetStream: the wire interface that the product's own client code
// uses, over streams in memory.

import { matches, Stream } from './jetstream.ts'
import type { StreamConfig } from './jetstream.ts'
import type { NatsClient } from './nats-client.ts'
import { answer, infoOf, messageOf, recordOf, timeOf } from './nats-answers.ts'
import type { Json } from './nats-answers.ts'
import { Deliveries } from './nats-deliveries.ts'
import type { DeliveryFaults } from './nats-deliveries.ts'
import { MemoryMessage } from './nats-message.ts'
import type { VirtualTime } from './virtual-time.ts'

/** What may go wrong with NATS and JetStream. */
export interface StreamFaults extends DeliveryFaults {
  /** Milliseconds until an append is synced. What is not synced yet may be lost. */
  readonly syncMs: () => number
  /** True for an answer that gets lost. */
  readonly losesAnswer: () => boolean
  /** True for a message outside of the streams that a receiver loses. */
  readonly losesMessage: () => boolean
  /** True for such a message that arrives twice. */
  readonly repeatsMessage: () => boolean
  /** True for a direct read that a replica answers which lags behind. */
  readonly isStale: () => boolean
  /** True for what is lost when a leader goes with appends that are not synced. */
  readonly losesAppend: () => boolean
}

type Respond = (message: MemoryMessage) => void

/** The subjects of lanes. */
const STORED = /^heliograph\.lane\./
const NOT_FOUND = { code: 404, err_code: 10_059, description: 'stream not found' }
const EXISTS = { code: 400, err_code: 10_058, description: 'stream name already in use' }
const NO_MESSAGE = { code: 404, err_code: 10_037, description: 'no message found' }

const decoder = new TextDecoder()
const NOTHING = new Uint8Array()
/** How far a replica lags behind. */
const STALE_MS = 2_000

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
  readonly #deliveries: Deliveries
  #unsynced = new Set<Unsynced>()
  /** The end of the latest sync: appends are synced in their order. */
  #syncedAt = 0

  constructor(time: VirtualTime, faults: StreamFaults) {
    this.#time = time
    this.#faults = faults
    this.#deliveries = new Deliveries(time, faults)
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
      if (this.#faults.repeatsMessage()) client.deliver(message)
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
        this.#deliveries.serve(stream, consumer)
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
      const [, name = '', consumer = ''] = rest
      return this.#deliveries.pull(this.#streams.get(name), { consumer, inbox: reply, text }, from)
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
        return this.#deliveries.consume(stream, asked['config'] as Json, from)
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
    const isStale = this.#faults.isStale()
    const found = stream && messageOf(stream, query, isStale ? STALE_MS : 0)
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
}

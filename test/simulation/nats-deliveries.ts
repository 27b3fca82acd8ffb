// Pull consumers of a simulated JetStream: what is delivered of a stream, and when.

import type { Consumer, Stream } from './jetstream.ts'
import { deliveryOf } from './nats-answers.ts'
import type { Json } from './nats-answers.ts'
import type { NatsClient } from './nats-client.ts'
import { MemoryMessage } from './nats-message.ts'
import type { VirtualTime } from './virtual-time.ts'

/** What may go wrong with a delivery. */
export interface DeliveryFaults {
  /** True for an entry that a consumer loses. */
  readonly losesDelivery: () => boolean
  /** True for an entry that is delivered twice. */
  readonly repeatsDelivery: () => boolean
  /** False while the servers elect a leader: nothing is answered. */
  readonly hasLeader: () => boolean
}

interface Pull {
  readonly consumer: string
  readonly inbox: string
  /** The request, as JSON. */
  readonly text: string
}

const HEARTBEAT_MS = 500
const NOTHING = new Uint8Array()

export class Deliveries {
  readonly #time: VirtualTime
  readonly #faults: DeliveryFaults

  constructor(time: VirtualTime, faults: DeliveryFaults) {
    this.#time = time
    this.#faults = faults
  }

  /** Makes a consumer. */
  consume(stream: Stream, config: Json, client: NatsClient): Json {
    const filter = String(config['filter_subject'])
    const name = String(config['name'])
    const backlog = stream.backlog(filter, Number(config['opt_start_seq']))
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

  /** Takes a request for messages. */
  pull(stream: Stream | undefined, { consumer, inbox, text }: Pull, client: NatsClient): void {
    const known = stream?.consumers.get(consumer)
    if (stream === undefined || known === undefined) {
      const status = { code: 503, description: 'consumer not found' }
      client.deliver(new MemoryMessage(inbox, NOTHING, status))
      return
    }
    const asked = JSON.parse(text) as Readonly<Record<string, number>>
    const { batch = 1, max_bytes: bytes = 0, expires = 0 } = asked
    known.request = { inbox, left: batch, bytes, untilMs: this.#time.now + expires / 1e6 }
    this.serve(stream, known)
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
  serve(stream: Stream, consumer: Consumer): void {
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
      const delivery = deliveryOf(stream, consumer, next)
      client.deliver(delivery, request.inbox)
      if (this.#faults.repeatsDelivery()) client.deliver(delivery, request.inbox)
    }
  }
}

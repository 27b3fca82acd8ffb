// A message of the simulated NATS, as the client library gives it.

import type { Msg, MsgHdrs } from '@nats-io/transport-node'

export interface Particulars {
  readonly reply?: string
  /** A status in place of a message. */
  readonly code?: number
  readonly description?: string
  readonly values?: Readonly<Record<string, string>>
}

type Answer = (subject: string, data: string | Uint8Array) => void

const decoder = new TextDecoder()

/** The part of Msg that the product and the JetStream client use. */
export class MemoryMessage {
  readonly subject: string
  readonly data: Uint8Array
  readonly reply: string
  readonly values: Readonly<Record<string, string>>
  readonly #code: number
  readonly #description: string
  #text: string | undefined
  #answer: Answer = () => undefined

  constructor(subject: string, data: Uint8Array, particulars: Particulars = {}) {
    this.subject = subject
    this.data = data
    this.reply = particulars.reply ?? ''
    this.values = particulars.values ?? {}
    this.#code = particulars.code ?? 0
    this.#description = particulars.description ?? ''
  }

  get headers(): MsgHdrs {
    const get = (name: string): string => this.values[name] ?? ''
    const part = { code: this.#code, description: this.#description, get, last: get }
    return part as unknown as MsgHdrs
  }

  /** The same message as a client has received it, whose answers that client sends. */
  answeredBy(answer: Answer): MemoryMessage {
    const { subject, data, reply, values } = this
    const received = new MemoryMessage(subject, data, { reply, values })
    received.#answer = answer
    return received
  }

  /** Several clients receive one message, and read its text once. */
  string(): string {
    return (this.#text ??= decoder.decode(this.data))
  }

  json<Value>(): Value {
    return JSON.parse(this.string()) as Value
  }

  respond(data: string | Uint8Array = ''): boolean {
    this.#answer(this.reply, data)
    return true
  }

  asMsg(): Msg {
    return this as unknown as Msg
  }
}

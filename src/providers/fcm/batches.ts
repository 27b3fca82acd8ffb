// Gathers single messages into batches: messages that come while batches are in flight share the
// next ones.
//
// Invariants:
//   batches/1. At most BATCHES_MAX batches of at most BATCH_MAX messages are in flight: each uses a
//              connection of its own.

const BATCH_MAX = 500
const BATCHES_MAX = 4

interface Waiting<Message, Answer> {
  readonly message: Message
  readonly answer: (answer: Answer) => void
}

interface BatchPorts<Message, Answer> {
  /** Returns one answer for each message, in their order. Never rejects. */
  readonly sendAll: (messages: readonly Message[]) => Promise<readonly Answer[]>
  /** Runs a task after this pass of the event loop. */
  readonly soon: (task: () => void) => void
}

export class Batches<Message, Answer> {
  readonly #ports: BatchPorts<Message, Answer>
  readonly #waiting: Waiting<Message, Answer>[] = []
  #inFlight = 0
  #isScheduled = false

  constructor(ports: BatchPorts<Message, Answer>) {
    this.#ports = ports
  }

  send(message: Message): Promise<Answer> {
    return new Promise((answer) => {
      this.#waiting.push({ message, answer })
      if (this.#isScheduled) return
      this.#isScheduled = true
      this.#ports.soon(() => {
        this.#isScheduled = false
        this.#flush()
      })
    })
  }

  #flush(): void {
    while (this.#waiting.length > 0 && this.#inFlight < BATCHES_MAX) {
      // batches/1: the messages spread over the batches that may begin.
      const share = Math.ceil(this.#waiting.length / (BATCHES_MAX - this.#inFlight))
      void this.#send(this.#waiting.splice(0, Math.min(BATCH_MAX, share)))
    }
  }

  async #send(batch: readonly Waiting<Message, Answer>[]): Promise<void> {
    this.#inFlight += 1
    const answers = await this.#ports.sendAll(batch.map(({ message }) => message))
    this.#inFlight -= 1
    for (const [index, { answer }] of batch.entries()) {
      const given = answers[index]
      if (given !== undefined) answer(given)
    }
    this.#flush()
  }
}

// Gathers single messages into batches: messages that come while others are under way go together.
//
// Invariants:
//   batches/1. At most BATCHES_MAX batches of at most BATCH_MAX messages are under way: each costs
//              a connection of its own.

const BATCH_MAX = 500
const BATCHES_MAX = 4

interface Waiting<Message, Answer> {
  readonly message: Message
  readonly answer: (answer: Answer) => void
}

export interface BatchPorts<Message, Answer> {
  /** Gives one answer for each message, in their order. Never rejects. */
  readonly sendAll: (messages: readonly Message[]) => Promise<readonly Answer[]>
  /** Runs a task after the work at hand. */
  readonly soon: (task: () => void) => void
}

export class Batches<Message, Answer> {
  readonly #ports: BatchPorts<Message, Answer>
  readonly #waiting: Waiting<Message, Answer>[] = []
  #underWay = 0
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
    while (this.#waiting.length > 0 && this.#underWay < BATCHES_MAX) {
      // batches/1: distributes the messages over the batches that may begin.
      const share = Math.ceil(this.#waiting.length / (BATCHES_MAX - this.#underWay))
      void this.#send(this.#waiting.splice(0, Math.min(BATCH_MAX, share)))
    }
  }

  async #send(batch: readonly Waiting<Message, Answer>[]): Promise<void> {
    this.#underWay += 1
    const answers = await this.#ports.sendAll(batch.map(({ message }) => message))
    this.#underWay -= 1
    for (const [index, { answer }] of batch.entries()) {
      const told = answers[index]
      if (told !== undefined) answer(told)
    }
    this.#flush()
  }
}

// An acceptor over a log whose appends wait until the test answers them.

import { isOfChannel } from '#actors/turn-item'
import type { Appended, Batch } from '#domain/lane'
import { laneOf } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import type { LogWriter } from '#domain/ports'
import type { MessageSubmission, Submission } from '#domain/submission'
import { Acceptor } from '#src/stream/acceptor'
import type { AcceptorOptions } from '#src/stream/acceptor'
import { decodeBatch, encodeSubmission } from '#src/schemas/batch'
import { FakeBus } from '#test/support/fake-bus'
import { FakeMeter } from '#test/support/fake-telemetry'
import { FakeTime } from '#test/support/fake-timers'
import { channel, message } from '#test/support/submissions'
import { turn } from '#test/support/until'

export const LANES = 4

export const OPTIONS: AcceptorOptions = {
  roundMs: 0,
  lanes: LANES,
  laneBytesMax: 1_000_000,
  channelInFlightMax: 1000,
  channelShare: { shareMax: 1000, aloneMax: 1000, unknownMax: 1000 },
  unappliedBytesMax: 1_000_000,
}

/** A channel of each lane. */
export const channels = Array.from({ length: 200 }, (_, number) => channel(number))

export const inLane = (lane: number, nth = 0): ChannelId =>
  channels.filter((id) => laneOf(id, LANES) === lane)[nth] ?? channel(1)

export interface Append {
  readonly batch: Batch
  readonly answer: (outcome: Appended) => void
  readonly fail: (error: Error) => void
}

/** A log whose appends wait until the test answers them. */
export class HeldLog implements LogWriter {
  readonly appends: Append[] = []
  #position = 0

  append(batch: Batch): Promise<Appended> {
    return new Promise((answer, fail) => {
      this.appends.push({ batch, answer, fail })
    })
  }

  /** Answers the oldest append that waits; gives its position. */
  async appended(): Promise<number> {
    this.#position += 1
    this.appends.shift()?.answer({ kind: 'appended', position: this.#position })
    await turn()
    return this.#position
  }

  async refused(retryAfterMs: number): Promise<void> {
    this.appends.shift()?.answer({ kind: 'refused', reason: 'full', retryAfterMs })
    await turn()
  }
}

export function bench(options: Partial<AcceptorOptions> = {}) {
  const log = new HeldLog()
  const bus = new FakeBus()
  const meter = new FakeMeter()
  const tasks: (() => void)[] = []
  const soon = (task: () => void): void => void tasks.push(task)
  const time = new FakeTime(1_000)
  const callers = (): number => 1_000
  const ports = { log, bus, meter, soon, timers: time, monotonicMs: time.nowMs, callers }
  const acceptor = new Acceptor(ports, { ...OPTIONS, ...options })
  const flush = (): void => {
    for (const task of tasks.splice(0)) task()
  }
  const answers: string[] = []
  /** Accepts and notes the answer under the op_id, once there is one. */
  const accept = (submission: Submission): Submission => {
    void acceptor.accept(submission).then((answer) => {
      const text = answer.kind === 'accepted' ? 'accepted' : `${answer.code} ${answer.retryAfterMs}`
      answers.push(`${submission.opId}: ${text}`)
    })
    return submission
  }
  return { acceptor, log, bus, meter, flush, answers, accept, tasks, time }
}

export const BUSY = 'submission_not_accepted 1000'

export const inBatch = ({ batch }: Append): readonly string[] =>
  decodeBatch(batch.payload).map((one) => (isOfChannel(one) ? one.opId : '?'))

/** A message whose part of a batch takes so many characters. */
export function messageOf(length: number, id: string, channelId = inLane(0)): MessageSubmission {
  const make = (title: string): MessageSubmission =>
    message({ opId: id, channelId, fields: { title } })
  const room = length - encodeSubmission(make('')).length
  return make('x'.repeat(room))
}

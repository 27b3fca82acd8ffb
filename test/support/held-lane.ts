// A lane's writer before a server whose network holds attempts and answers back: the test delivers
// them late, twice or never.

import { JetStreamApiError } from '@nats-io/jetstream'

import type { Appended } from '#domain/lane'
import { LaneWriter } from '#src/stream/jetstream/lane-writer'
import { FakeLogger, FakeMeter } from '#test/support/fake-telemetry'
import { FakeTime } from '#test/support/fake-timers'
import { turn } from '#test/support/until'

/** A batch that no attempt could send is refused after this time. */
export const TIMEOUT_MS = 2000

/** An attempt to append. `answer` and `fail` give the writer its outcome. */
export interface Attempt {
  readonly text: string
  readonly expected: number
  readonly messageId: string
  readonly answer: (seq: number) => void
  readonly fail: (error: Error) => void
}

/** The writer's subject in one lane of a stream, behind a network in the hands of the test. */
export class HeldSubject {
  readonly stored: string[] = []
  readonly attempts: Attempt[] = []
  readonly #positions = new Map<string, number>()
  canSend = true
  /** True: it stores whatever end an attempt names, as a leader does that is behind. */
  isBehind = false
  /** True once everything in it was purged. */
  isPurged = false

  get end(): number {
    return this.isPurged ? 0 : this.stored.length
  }

  publish(sent: Pick<Attempt, 'text' | 'expected' | 'messageId'>): Promise<{ seq: number }> {
    return new Promise((resolve, fail) => {
      this.attempts.push({ ...sent, answer: (seq) => resolve({ seq }), fail })
    })
  }

  /** The server takes an attempt; whether its answer arrives is another matter. */
  deliver({ text, expected, messageId, answer, fail }: Attempt, isHeard: boolean): void {
    if (expected === this.end || this.isBehind) {
      const position = this.#positions.get(messageId) ?? this.stored.push(text)
      this.#positions.set(messageId, position)
      this.isPurged = false
      if (isHeard) answer(position)
      return
    }
    const description = `wrong last sequence: ${this.end}`
    if (isHeard) fail(new JetStreamApiError({ code: 400, err_code: 10_071, description }))
  }
}

/** A writer whose time stands still, and its appends' outcomes by the text of the batch. */
export function heldWriter() {
  const subject = new HeldSubject()
  const time = new FakeTime(0)
  const meter = new FakeMeter()
  const payloadAt = (position: number): Promise<Uint8Array | undefined> => {
    const text = subject.stored[position - 1]
    return Promise.resolve(text === undefined ? undefined : Buffer.from(text))
  }
  const writer = new LaneWriter(
    {
      stream: {
        name: 'S',
        highestPosition: 0,
        mismatch: undefined,
        notePosition: () => {},
        stopFollowing: () => {},
        payloadAt,
        lastOf: () => Promise.resolve({ position: subject.stored.length, atMs: 0 }),
      },
      publisher: {
        publish: async (_, payload, options) => {
          const text = Buffer.from(payload as Uint8Array).toString()
          const expected = options?.expect?.lastSubjectSequence ?? -1
          const { seq } = await subject.publish({ text, expected, messageId: options?.msgID ?? '' })
          return { seq, stream: 'S', duplicate: false, domain: '' }
        },
      },
      logger: new FakeLogger(),
      timers: time,
      monotonicMs: time.monotonicMs,
      canSend: () => subject.canSend,
      count: {
        retried: meter.counter('stream_appends_retried_total', {}),
        unknown: meter.counter('stream_appends_unknown_total', {}),
        foundLate: meter.counter('stream_appends_found_late_total', {}),
      },
    },
    { lane: 1, subject: 'lane.1.me', timeoutMs: TIMEOUT_MS },
  )
  const outcomes = new Map<string, Appended['kind']>()
  const append = (text: string): void => {
    void writer.append(Buffer.from(text)).then(({ kind }) => outcomes.set(text, kind))
  }
  /** Lets `ms` pass in small steps. */
  const pass = async (ms: number, stepMs = 50): Promise<void> => {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await settled()
      time.advance(stepMs)
    }
    await settled()
  }
  return { subject, time, meter, writer, outcomes, append, pass }
}

/** Everything that was due has run. */
export const settled = async (): Promise<void> => {
  for (let turns = 0; turns < 4; turns += 1) await turn()
}

// The parts of a Message that reached the log, as plain values that a test can compare.

import type { FakeSink } from '#test/support/fake-sink'

/** The fields of each Message, metadata as a plain object. */
export function sentMessages(sink: FakeSink): readonly Readonly<Record<string, unknown>>[] {
  return sink.accepted.flatMap((submission) => {
    if (submission.model !== 'message') return []
    return [JSON.parse(JSON.stringify(submission.fields)) as Record<string, unknown>]
  })
}

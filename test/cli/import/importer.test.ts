// Goal: a row counts as done when it has its outcome, and not otherwise.
// Method: a sender by hand that answers the first row and is stopped before the second.

import test from 'ava'

import { parseChannelId } from '#domain/identity'
import type { FleetOutcome, FleetSender } from '#src/client/fleet'
import type { FleetSubmission } from '#src/client/fleet-queue'
import { Checkpoint } from '#src/cli/import/checkpoint'
import { Importer } from '#src/cli/import/importer'
import type { Row } from '#src/cli/import/rows'
import { CHANNEL, PASSWORD } from '#test/support/command-line'
import { PLAIN } from './plain-mapping.ts'

class OneAnswer implements FleetSender<Row> {
  readonly progress = {
    waiting: 0,
    inFlight: 0,
    accepted: 0,
    refused: 0,
    unknown: 0,
    unsent: 0,
    repeated: 0,
  }
  readonly #waiting: FleetSubmission<Row>[] = []
  readonly #tell: (outcome: FleetOutcome<Row>) => void

  constructor(tell: (outcome: FleetOutcome<Row>) => void) {
    this.#tell = tell
  }

  async send(submission: FleetSubmission<Row>): Promise<void> {
    if (submission.tag?.number === 1) {
      this.#tell({ submission, kind: 'accepted', ids: { op_id: 'o', thing_id: 'a' } })
    } else this.#waiting.push(submission)
  }

  async flush(): Promise<void> {}

  async stop(): Promise<void> {
    for (const submission of this.#waiting.splice(0)) this.#tell({ submission, kind: 'unsent' })
  }
}

async function* rowsThat(stop: () => void): AsyncIterable<Row> {
  for (const number of [1, 2]) {
    yield { number, bytes: number, read: { fields: { thing_id: `t${number}`, t: 1 } } }
  }
  stop()
}

test('importer/1: a row that waits when the import is stopped is not done', async (t) => {
  const channelId = parseChannelId(CHANNEL)
  if (channelId === undefined) throw new Error('the channel of the tests has a valid id')
  const checkpoint = new Checkpoint(undefined)
  const importer = new Importer({
    credentials: { channel_id: channelId, password: PASSWORD },
    mapping: PLAIN,
    checkpoint,
    nowMs: () => 0,
    reject: () => t.fail('no row is rejected'),
    connect: (tell) => new OneAnswer(tell),
  })
  const stopping = new AbortController()
  await importer.run(
    rowsThat(() => stopping.abort()),
    stopping.signal,
  )
  t.deepEqual(importer.counts, { rows: 1, accepted: 1, rejected: 0, skipped: 0 })
  t.is(checkpoint.row, 1)
})

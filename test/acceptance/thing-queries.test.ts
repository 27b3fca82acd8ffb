// Goal: queries hold no request up, whatever the Things are, and are few.
// Method: count turns of the loop; the loop turns when the test says so.

import test from 'ava'

import { isFault } from '#domain/fault'
import type { ScanQuery, Scanned } from '#domain/things/scan'
import { documentOf } from '#domain/things/document'
import {
  QUERIES_MAX,
  QUERIES_OF_CHANNEL_MAX,
  ThingQueries,
} from '#src/acceptance/queries/thing-queries'
import { readQuery } from '#src/queries/query'
import { FakeMeter } from '#test/support/fake-telemetry'
import { channel } from '#test/support/submissions'
import { thingOf } from '#test/support/thing-queries'
import { rounds, turn } from '#test/support/until'

const CEL = { cel: 'attrs.l.exists(x, x == 2)' }
const LIST = Array<number>(1_900).fill(1)

/** Things without an end, for each of which a condition takes long. */
const endless = async ({ after = '0', limit }: ScanQuery): Promise<Scanned> => ({
  isLast: false,
  things: Array.from({ length: limit }, (_, index) => {
    const thing = thingOf({ id: String(Number(after) + index + 1), seq: 1, attrs: { l: LIST } })
    const document = documentOf(thing)
    return { ...thing, document, bytes: document.length }
  }),
})

function rig(scan: (query: ScanQuery) => Promise<Scanned> = endless) {
  const waiting: (() => void)[] = []
  const meter = new FakeMeter()
  const soon = (task: () => void) => void waiting.push(task)
  const queries = new ThingQueries({ read: { scan }, nowMs: () => 10 ** 12, soon, meter })
  const query = readQuery({ where: { any: [CEL, CEL, CEL] }, count: true })
  const run = async (of = channel(1)) => (isFault(query) ? query : queries.run(of, query, 50))
  return { waiting, meter, run }
}

const codeOf = (answer: unknown): string => (isFault(answer) ? answer.code : 'done')

test('few-at-once/1: few queries of a channel run, and few in all; each end makes room', async (t) => {
  const held: ((page: Scanned) => void)[] = []
  const { run, meter } = rig(() => new Promise((resolve) => void held.push(resolve)))
  const begun = []
  for (let count = 0; count < QUERIES_OF_CHANNEL_MAX; count += 1) begun.push(run())
  t.is(codeOf(await run()), 'rate_limited')
  for (let count = begun.length; count < QUERIES_MAX; count += 1) begun.push(run(channel(2)))
  t.is(codeOf(await run(channel(3))), 'server_busy')
  const running = meter.gauges.get('thing_queries')
  t.is(running?.(), QUERIES_MAX)
  for (const end of held) end({ things: [], isLast: true })
  t.deepEqual((await Promise.all(begun)).map(codeOf), Array(QUERIES_MAX).fill('done'))
  t.is(running?.(), 0)
  const last = run()
  held.at(-1)?.({ things: [], isLast: true })
  t.is(codeOf(await last), 'done')
})

test('few-at-once/2: a query lets requests go on after some steps, and gives up in the end', async (t) => {
  const { run, waiting } = rig()
  const answers: unknown[] = []
  void run().then((answer) => answers.push(answer))
  let slices = 0
  for (const isWithin = rounds(20_000); isWithin() && answers.length === 0; slices += 1) {
    await turn()
    waiting.shift()?.()
  }
  t.like(answers[0], { items: [], total: 0, isComplete: false })
  t.true(slices >= 500, String(slices))
})

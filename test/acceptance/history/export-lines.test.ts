// Goal: the lines of an export: what they are, where they end, and that another one goes on there.
// Method: a store in memory that gives short pages.

import test from 'ava'
import { fault } from '#domain/fault'
import type { ExportPlan } from '#src/acceptance/history/export-lines'
import { FIVE, SEVEN, away, entry, exportRig } from '#test/support/export-rig'
import type { Line } from '#test/support/export-rig'

const KINDS = ['update', 'event', 'message']

const seqs = (lines: readonly Line[]) =>
  lines.flatMap(({ seq, kind }) => (kind === 'thing' ? [] : (seq ?? [])))

test('an export has every entry in seq order, then every Thing, then their series, then its end', async (t) => {
  const lines = await exportRig(SEVEN, FIVE).all()
  t.deepEqual(lines[0], {
    kind: 'event',
    seq: 1,
    op_id: 'op-1',
    action: 'update',
    entity_id: 't1',
    accepted_at: 1000,
    payload: { n: 1 },
  })
  const kinds = SEVEN.map(({ seq }) => KINDS[seq % 3])
  t.deepEqual(
    lines.map(({ kind }) => kind).filter((kind) => kind !== 'progress'),
    [...kinds, ...FIVE.map(() => 'thing'), ...Array<string>(9).fill('series'), 'end'],
  )
  t.deepEqual(seqs(lines), [1, 2, 3, 4, 5, 6, 7])
  t.like(lines[7], { thing_id: 'a', attrs: { n: 1 }, state: 'active' })
  t.deepEqual(lines.at(-1), { kind: 'end', complete: true, after_seq: 7 })
})

const WISHES: readonly (readonly [
  plan: Partial<ExportPlan>,
  expected: readonly number[],
  end: number,
])[] = [
  [{ what: ['updates'] }, [3, 6], 7],
  [{ what: ['events', 'messages'] }, [1, 2, 4, 5, 7], 7],
  [{ what: ['updates', 'events'], afterSeq: 3 }, [4, 6, 7], 7],
  [{ fromMs: 3000, toMs: 6000 }, [3, 4, 5], 5],
  [{ fromMs: 3001, toMs: 6001 }, [4, 5, 6], 6],
  [{ toMs: 1000 }, [], 0],
  [{ fromMs: 8000 }, [], 7],
  [{ fromMs: 8000, afterSeq: 9 }, [], 9],
  [{ what: ['things'], afterSeq: 2 }, [], 2],
  [{ what: ['series'], afterSeq: 2 }, [], 2],
]

for (const [plan, expected, end] of WISHES) {
  test(`an export with ${JSON.stringify(plan)} has the entries ${expected.join()} and ends behind ${end}`, async (t) => {
    const lines = await exportRig(SEVEN).all(plan)
    t.deepEqual(seqs(lines), expected)
    t.like(lines.at(-1), { kind: 'end', complete: true, after_seq: end })
  })
}

test('a page without an entry that was asked for tells how far the export is', async (t) => {
  const entries = [entry(3), ...[1, 2, 4, 5, 7, 8, 10].map((seq) => entry(seq + 3)), entry(15)]
  const lines = await exportRig(entries).all({ what: ['updates'] })
  t.deepEqual(
    lines.map(({ kind, seq, after_seq }) => [kind, seq ?? after_seq]),
    [
      ['update', 3],
      ['progress', 10],
      ['update', 15],
      ['end', 15],
    ],
  )
})

test('the time to begin at is looked for once', async (t) => {
  const { world, all } = exportRig(SEVEN)
  await all({ what: ['updates', 'events', 'messages'], fromMs: 2000 })
  const asked = world.queries.map(({ sinceMs, afterSeq }) => `${sinceMs} ${afterSeq}`)
  t.deepEqual(asked, ['2000 0', 'undefined 4'])
})

test('export-lines/1: no page is read before the reader has taken the one before', async (t) => {
  const { world, lines } = exportRig(SEVEN)
  const texts = lines().lines()
  await texts.next()
  await new Promise((resolve) => setImmediate(resolve))
  t.is(world.pages, 1)
  await texts.return(undefined)
})

test('export-lines/2: from a refusal on nothing more is told but the end', async (t) => {
  const { world, all } = exportRig(SEVEN, FIVE)
  world.meanwhile = (page) => {
    if (page === 2) world.refusal = fault('key_expired')
  }
  const lines = await all()
  t.deepEqual(seqs(lines), [1, 2, 3])
  const end = { kind: 'end', complete: false, after_seq: 3, error_code: 'key_expired' }
  t.deepEqual(lines.at(-1), end)
})

for (const [why, cut] of [
  ['a store that does not answer', away],
  ['the end of the gateway', undefined],
] as const) {
  test(`export-lines/3: cut at any page by ${why}, an export goes on where it was`, async (t) => {
    const isProgress = ({ kind }: Line): boolean => kind === 'progress'
    const whole = (await exportRig(SEVEN, FIVE).all())
      .slice(0, -1)
      .filter((one) => !isProgress(one))
    for (let page = 1; page <= 17; page += 1) {
      const first = exportRig(SEVEN, FIVE)
      first.world.meanwhile = (at) => {
        if (at === page) (cut ?? (() => first.controller.abort()))()
      }
      const before = await first.all()
      const { kind, complete, after_seq, after_thing, after_series, error_code } =
        before.at(-1) ?? {}
      t.deepEqual([kind, complete, error_code], ['end', false, 'server_busy'])
      const [thingId = '', time] = ((after_series as string | undefined) ?? '').split(' ')
      const behind = await exportRig(SEVEN, FIVE).all({
        afterSeq: Number(after_seq),
        afterThing: after_thing as string | undefined,
        ...(thingId !== '' && { afterSeries: { thingId, before: Number(time) } }),
      })
      const all = [...before.slice(0, -1), ...behind.slice(0, -1)]
      t.deepEqual(
        all.filter((one) => !isProgress(one)),
        whole,
        String(page),
      )
    }
  })
}

test('a defect of the store breaks the export off: it does not look whole', async (t) => {
  const { world, all } = exportRig(SEVEN)
  world.meanwhile = () => {
    throw new TypeError('a defect')
  }
  await t.throwsAsync(all(), { instanceOf: TypeError })
})

test('export-lines/1: a page of long entries comes in texts of some 65,536 characters', async (t) => {
  const long = [1, 2, 3].map((seq) => ({ ...entry(seq), payload: `"${'x'.repeat(40_000)}"` }))
  const counts: number[] = []
  for await (const text of exportRig(long).lines().lines()) counts.push(text.split('\n').length - 1)
  t.deepEqual(counts, [2, 1, 1])
})

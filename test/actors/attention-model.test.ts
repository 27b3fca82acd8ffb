// Goal: what an Event's feed says about acknowledgements, reminders and escalations, against a
// model that knows no rows, no deadlines and no turns. (attention/1, attention/2, reminding/1 to reminding/3, R7)
// Method: random updates, acknowledgements, snoozes and closes, late ones too, with ticks, turns of
// any size, and actors that forget everything in between.

import test from 'ava'
import * as fc from 'fast-check'

import { SEVERITIES } from '#domain/submission'
import type { Submission, Tick } from '#domain/submission'
import { acknowledgement, event } from '#test/support/submissions'
import { LIMITS, newBench } from '#test/support/turn-bench'
import type { TurnBench } from '#test/support/turn-bench'

const M = 60_000
const EVERY = 3
const STEPS = [
  { after: 5, level: 1, severity: 'high' },
  { after: 9, level: 3, severity: 'critical' },
]
const FIELDS = {
  remind_every: `${EVERY}m`,
  escalate: STEPS.map((step) => ({ ...step, after: `${step.after}m` })),
}

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom(
      'update',
      'update',
      'acknowledge',
      'acknowledge',
      'close',
      'tick',
      'tick',
      'restart',
      'cut',
    ),
    gap: fc.integer({ min: 0, max: 5 }),
    late: fc.constantFrom(0, 0, 0, 2, 6),
    severity: fc.constantFrom(...SEVERITIES),
    snooze: fc.constantFrom(undefined, undefined, 1, 4),
    by: fc.constantFrom('anna', 'ben'),
  }),
  { maxLength: 30 },
)
type Step = typeof steps extends fc.Arbitrary<readonly (infer One)[]> ? One : never

/** A step at its minute of the lane. */
type Moment = Step & { readonly s: number }

/** Minutes from 1 on. */
function momentsOf(list: readonly Step[]): readonly Moment[] {
  let s = 10
  return list.map((step) => {
    s += step.gap
    return { ...step, s }
  })
}

const itemOf = ({ kind, s, late, severity, snooze, by }: Moment, index: number) => {
  const times = { at: (s - late) * M, acceptedAt: s * M }
  if (kind === 'tick') return { model: 'tick', acceptedAt: s * M } as const
  if (kind === 'acknowledge') {
    return acknowledgement('e', { ...times, by, ...(snooze && { snoozeMs: snooze * M }) })
  }
  const fields = { ...FIELDS, title: `${index}`, severity }
  return event(kind === 'close' ? 'close' : 'update', 'e', { ...times, fields })
}

const rankOf = (severity: string): number =>
  SEVERITIES.toReversed().findIndex((one) => one === severity)

/** An Event as the specification has it. Times are minutes. */
class Model {
  readonly said: string[] = []
  #isOpen = false
  #closed = -Infinity
  #severity = ''
  #setAt = 0
  #titledAt = 0
  #newest = 0
  #first = 0
  #last = 0
  #reminders = 0
  #level = 0
  #acknowledged: { at: number; rank: number; until: number; by: string; holds: boolean } | undefined

  /** The minute of the next deadline. */
  get due(): number | undefined {
    if (!this.#isOpen) return undefined
    const { until = 0, holds = false } = this.#acknowledged ?? {}
    if (holds) return until === Infinity ? undefined : until
    return Math.min(this.#last + EVERY, this.#escalates)
  }

  get #escalates(): number {
    const step = STEPS.find(({ level }) => level > this.#level)
    return step === undefined ? Infinity : this.#first + step.after
  }

  take(moment: Moment): void {
    const { kind, s } = moment
    if (kind === 'tick') this.#tick(s)
    else if (this.#isOpen) this.#takeOpen(moment)
    else if (kind !== 'acknowledge' && (s - this.#closed) * M > LIMITS.endedLifeMs)
      this.#begin(moment)
  }

  #say(s: number, what: string): void {
    this.#last = s
    this.said.push(what)
  }

  #begin({ kind, s, late, severity }: Moment): void {
    this.#severity = severity
    this.#setAt = this.#titledAt = this.#newest = s - late
    this.#first = s
    this.#reminders = this.#level = 0
    this.#acknowledged = undefined
    this.#isOpen = true
    this.#say(s, `${kind} ${severity}`)
    if (kind === 'close') this.#end(s)
  }

  #end(s: number): void {
    this.#isOpen = false
    this.#closed = s
  }

  #takeOpen(moment: Moment): void {
    const { kind, s, late, severity, snooze = Infinity, by } = moment
    const at = s - late
    if (kind === 'acknowledge') {
      const known = this.#acknowledged
      const until = at + snooze
      const isSame = known?.by === by && known.until === until && known.at === at
      if (known !== undefined && (at < known.at || isSame || (at === known.at && !known.holds)))
        return
      this.#acknowledged = { at, rank: rankOf(this.#severity), until, by, holds: true }
      return this.#say(s, `acknowledge ${by} ${until === Infinity ? 'open end' : until}`)
    }
    const isTitled = at >= this.#titledAt
    const isSet = at >= this.#setAt
    const isSeen = isTitled || (isSet && severity !== this.#severity)
    if (isTitled) this.#titledAt = at
    if (isSet) {
      this.#severity = severity
      this.#setAt = at
    }
    const isEffective = isSeen || at > this.#newest || kind === 'close'
    this.#newest = Math.max(this.#newest, at)
    if (isEffective) this.#say(s, `${kind} ${this.#severity}`)
    const known = this.#acknowledged
    if (known !== undefined && rankOf(this.#severity) > known.rank) known.holds = false
    if (kind === 'close') this.#end(s)
  }

  #tick(s: number): void {
    if (!this.#isOpen) return
    const known = this.#acknowledged
    if (known?.holds === true) {
      if (known.until > s) return
      known.holds = false
      this.#remind(s)
    }
    if (this.#last + EVERY <= s && this.#last + EVERY < this.#escalates) this.#remind(s)
    this.#escalate(s)
    if (this.#last + EVERY <= s) this.#remind(s)
  }

  #remind(s: number): void {
    this.#reminders += 1
    this.#say(s, `remind ${this.#reminders} ${this.#severity}`)
  }

  #escalate(s: number): void {
    const at = this.#escalates
    if (at > s) return
    const due = STEPS.filter(({ after, level }) => level > this.#level && this.#first + after <= s)
    for (const { level, severity } of due) {
      this.#level = level
      if (rankOf(severity) <= rankOf(this.#severity)) continue
      this.#severity = severity
      this.#newest = this.#setAt = Math.max(at, this.#newest)
    }
    this.#say(s, `escalate ${this.#level} ${this.#severity}`)
  }
}

/** What the feed says, entry by entry. */
const saidBy = ({ store }: TurnBench): readonly string[] =>
  store.feed.map(({ channelId, action, seq, payload }) => {
    const read = JSON.parse(payload) as Readonly<Record<string, unknown>>
    const { severity = '', reminders, level, acknowledged_by: by, snoozed_until: until } = read
    if (action === 'acknowledge') {
      return `${action} ${String(by)} ${typeof until === 'number' ? until / M : 'open end'}`
    }
    // A late update says only what it changes.
    const shown =
      action === 'update' || action === 'close' ? severityAt(store, channelId, seq) : severity
    const said = [action, reminders ?? level, shown].filter((one) => one !== undefined)
    return said.map(String).join(' ')
  })

/** The severity of the Event behind an entry. */
function severityAt({ commits }: TurnBench['store'], channelId: string, upTo: number): unknown {
  const entries = commits.flatMap(({ channels }) => channels).flatMap((one) => one.entries)
  let present: { severity?: unknown } = {}
  for (const entry of entries) {
    if (entry.channelId !== channelId || entry.seq > upTo) continue
    if (entry.rev === 1) present = {}
    present = { ...present, ...(JSON.parse(entry.payload) as object) }
  }
  return present.severity
}

/** `isWhole`: nothing is forgotten, and turns are as large as they can be. */
async function played(list: readonly Step[], { isWhole = false } = {}) {
  const bench = await newBench()
  const moments = momentsOf(list)
  let turn: (Submission | Tick)[] = []
  const cut = async (): Promise<void> => {
    if (turn.length > 0) await bench.take(bench.turnOf(turn))
    turn = []
  }
  for (const [index, moment] of moments.entries()) {
    if (moment.kind === 'restart' || moment.kind === 'cut') {
      if (isWhole) continue
      await cut()
      if (moment.kind === 'restart') bench.directory.sleepAll()
      continue
    }
    const item = itemOf(moment, index)
    if (item.model === 'tick') await cut() // R7: a tick stands first in its turn.
    turn.push(item)
  }
  await cut()
  return { bench, moments }
}

const check = async (t: { pass(): void }, holds: (list: readonly Step[]) => Promise<void>) => {
  await fc.assert(fc.asyncProperty(steps, holds), { numRuns: 300, includeErrorInReport: true })
  t.pass()
}

test('attention/1, attention/2, reminding/1, reminding/2, reminding/3: an Event is acknowledged, reminded of and escalated as a plain model says', (t) =>
  check(t, async (list) => {
    const { bench, moments } = await played(list)
    const model = new Model()
    for (const moment of moments) {
      if (moment.kind !== 'restart' && moment.kind !== 'cut') model.take(moment)
    }
    t.deepEqual(saidBy(bench), model.said)
    const rows = [...bench.store.rules.rows.values()].map(({ kept }) => (kept.due ?? 0) / M)
    t.deepEqual(rows, model.due === undefined ? [] : [model.due])
  }))

test('R7: forgetting everything and cutting the log elsewhere changes no entry', (t) =>
  check(t, async (list) => {
    const { bench } = await played(list)
    const again = await played(list, { isWhole: true })
    const feedOf = ({ store }: TurnBench) =>
      store.feed.map(({ seq, opId, action }) => [
        seq,
        action === 'remind' || action === 'escalate' ? opId : action,
      ])
    t.deepEqual(feedOf(again.bench), feedOf(bench))
    t.is(again.bench.store.rules.snapshot(), bench.store.rules.snapshot())
  }))

// The judge of rules: each fires once for each cause, with the entry behind its cause.

import type { Entry } from './judge.ts'
import { judgeChanges } from './judge-changing.ts'
import { judgeLasting } from './judge-lasting.ts'
import type { Observations, Sent } from './observations.ts'
import { levelOf, LEVELS } from './rules-of-channels.ts'
import type { RuleKind } from './rules-of-channels.ts'

export interface JudgedChannel {
  readonly channelId: string
  readonly rule: RuleKind
  /** The entries of the channel in seq order. */
  readonly entries: readonly Entry[]
  readonly byToken: ReadonlyMap<number, Sent>
  readonly tokenOf: (entry: Entry) => number | undefined
  /** True when clocks are right: nobody has set one. All rules have seen the end then. */
  readonly isRight: boolean
}

interface Watched {
  observedAt: number
  isHigh: boolean
  /** The id of its open Event. */
  open: string | undefined
}

const SENTENCE = 'a rule fires exactly once'

/** Adds a broken sentence for everything that is wrong. */
export function judgeRule(observations: Observations, judged: JudgedChannel): void {
  const { rule, channelId } = judged
  if (rule === 'lasting') return judgeLasting(observations, judged)
  if (rule !== 'changing') return judgeUnchanged(observations, judged)
  judgeChanges(observations, judged, observations.ruleChanges.get(channelId) ?? [])
}

function judgeUnchanged(observations: Observations, judged: JudgedChannel): void {
  const { rule, entries, byToken, tokenOf, isRight } = judged
  const things = new Map<string, Watched>()
  let due: { readonly thing: string; readonly isOpen: boolean } | undefined
  for (const entry of entries) {
    const token = tokenOf(entry)
    const fired = token === undefined ? take(things, entry) : undefined
    const where = `${entry.seq} of ${entry.channelId}`
    if (typeof fired === 'string') observations.break(SENTENCE, `${fired} at ${where}`)
    else if (due !== undefined && (fired?.thing !== due.thing || fired.isOpen !== due.isOpen)) {
      const missing = due.isOpen ? 'opened' : 'closed'
      observations.break(SENTENCE, `nothing is ${missing} at ${where}`)
    } else if (due === undefined && fired !== undefined && rule === 'high') {
      observations.break(SENTENCE, `${fired.thing} has no cause at ${where}`)
    }
    const sent = token === undefined ? undefined : byToken.get(token)
    due = sent?.model === 'thing' ? dueAfter(things, sent, rule) : undefined
  }
  if (due !== undefined) observations.break(SENTENCE, `${due.thing} has no Event at the end`)
  for (const [id, { open }] of things) {
    if (rule !== 'silent' || !isRight || open !== undefined) continue
    observations.break(SENTENCE, `the silence of ${id} of ${entries[0]?.channelId} has no Event`)
  }
}

/** What an entry of a rule opens or closes; a sentence when it is wrong. */
function take(things: Map<string, Watched>, { action, entityId, payload }: Entry) {
  if (action === 'create') {
    const { thing_id: thing = '' } = JSON.parse(payload) as { readonly thing_id?: string }
    const watched = things.get(thing)
    if (watched === undefined) return `an Event about ${thing}`
    if (watched.open !== undefined) return `a second Event about ${thing}`
    watched.open = entityId
    return { thing, isOpen: true }
  }
  for (const [thing, watched] of things) {
    if (watched.open !== entityId) continue
    watched.open = undefined
    return { thing, isOpen: false }
  }
  return `the end of ${entityId}, which is not open`
}

/** The change that has to follow at once; undefined for none. */
function dueAfter(
  things: Map<string, Watched>,
  { thingId: thing, observedAt, token }: Sent,
  rule: RuleKind,
) {
  const watched = things.get(thing) ?? { observedAt: 0, isHigh: false, open: undefined }
  things.set(thing, watched)
  if (observedAt > watched.observedAt) {
    watched.observedAt = observedAt
    watched.isHigh = levelOf(token) > LEVELS[0]
  }
  const isOpen = watched.open !== undefined
  const shouldBeOpen = rule === 'high' && watched.isHigh
  return isOpen === shouldBeOpen ? undefined : { thing, isOpen: shouldBeOpen }
}

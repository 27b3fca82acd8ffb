// The judge of a rule that somebody changes: which of its forms counted for a reading is known as
// far as the answers tell that reading and change came one behind the other.

import type { Entry } from './judge.ts'
import type { JudgedChannel } from './judge-rules.ts'
import type { Observations, RuleChange, Sent } from './observations.ts'
import { levelOf, numberOfChange } from './rules-of-channels.ts'

interface Watched {
  observedAt: number
  /** Its open Event, and the change of the rule that had opened it. */
  open: { readonly id: string; readonly number: number } | undefined
}

/** The changes of which one is the newest at an entry. */
interface Span {
  readonly least: number
  readonly most: number
}

/** A reading, and what has followed from it so far. */
interface Cause {
  readonly thing: string
  readonly level: number
  /** False for late data. */
  readonly isNewer: boolean
  readonly span: Span
  readonly where: string
  /** The change that had opened the Event before the reading. */
  readonly before: number | undefined
  hasOpened: boolean
}

const SENTENCE = 'a rule that changes fires by its newest form'

/** Adds a broken sentence for everything that is wrong. */
export function judgeChanges(
  observations: Observations,
  judged: JudgedChannel,
  changes: readonly RuleChange[],
): void {
  new ChangesJudge(observations, judged, changes).run()
}

class ChangesJudge {
  readonly #observations: Observations
  readonly #judged: JudgedChannel
  readonly #changes: readonly RuleChange[]
  readonly #things = new Map<string, Watched>()
  #cause: Cause | undefined

  constructor(observations: Observations, judged: JudgedChannel, changes: readonly RuleChange[]) {
    this.#observations = observations
    this.#judged = judged
    this.#changes = changes
  }

  run(): void {
    const { entries, isRight } = this.#judged
    const spans = this.#spans()
    for (const [at, entry] of entries.entries()) {
      const span = spans[at] ?? { least: 0, most: 0 }
      const where = `${entry.seq} of ${entry.channelId}`
      if (span.least > span.most) this.#break(`the changes are out of order at ${where}`)
      const sent = this.#sent(entry)
      if (sent !== undefined) this.#read(sent, span, where)
      else if (entry.action === 'create') this.#open(entry, span, where)
      else this.#close(entry, span, where)
    }
    this.#settle()
    if (isRight) this.#end()
  }

  #break(detail: string): void {
    this.#observations.break(SENTENCE, detail)
  }

  #sent(entry: Entry): Sent | undefined {
    const token = this.#judged.tokenOf(entry)
    return token === undefined ? undefined : this.#judged.byToken.get(token)
  }

  /** What follows a change is behind it in the log, and what it follows before it. */
  #spans(): readonly Span[] {
    const { entries } = this.#judged
    const last = this.#changes.length - 1
    const told = entries.map((entry): Span => {
      const sent = this.#sent(entry)
      const number = sent === undefined ? numberOf(entry) : undefined
      if (number !== undefined) return { least: number, most: number }
      // The place of a Message that has waited is not that of its submission.
      if (sent === undefined || sent.delayS > 0) return { least: 0, most: last }
      const least = this.#changes.findLastIndex(({ knownMs }) => knownMs <= sent.sentMs)
      const most = this.#changes.findLastIndex(({ sentMs }) => sentMs < sent.knownMs)
      return { least, most }
    })
    let floor = 0
    const leasts = told.map(({ least }) => (floor = Math.max(floor, least)))
    let ceiling = last
    const mosts = told.toReversed().map(({ most }) => (ceiling = Math.min(ceiling, most)))
    return leasts.map((least, at) => ({ least, most: mosts[told.length - 1 - at] ?? last }))
  }

  #read({ model, thingId: thing, token, observedAt }: Sent, span: Span, where: string): void {
    this.#settle()
    if (model !== 'thing') return
    const watched = this.#things.get(thing) ?? { observedAt: 0, open: undefined }
    this.#things.set(thing, watched)
    const isNewer = observedAt > watched.observedAt
    if (isNewer) watched.observedAt = observedAt
    const before = watched.open?.number
    const level = levelOf(token)
    this.#cause = { thing, level, isNewer, span, where, before, hasOpened: false }
  }

  /**
   * A reading of which every possible form says the same has its effect before the next entry. What
   * a rule that is gone has opened may end a little later.
   */
  #settle(): void {
    const cause = this.#cause
    this.#cause = undefined
    if (cause?.isNewer !== true) return
    const { thing, level, span, where, before, hasOpened } = cause
    const forms = this.#within(span)
    const isOpen = this.#things.get(thing)?.open !== undefined
    const is =
      (holds: boolean) =>
      ({ above }: RuleChange) =>
        above !== undefined && level > above === holds
    if (forms.every(is(true))) {
      const goesOn = before !== undefined && this.#mayGoOn(before, span)
      if (!hasOpened && !goesOn) this.#break(`nothing is opened at ${where}`)
    } else if (isOpen && forms.every(is(false))) this.#break(`nothing is closed at ${where}`)
  }

  #open(entry: Entry, { least, most }: Span, where: string): void {
    const { thing_id: thing = '' } = JSON.parse(entry.payload) as { readonly thing_id?: string }
    const watched = this.#things.get(thing)
    const number = numberOf(entry)
    const form = number === undefined ? undefined : this.#changes[number]
    if (number === undefined || watched === undefined) {
      return this.#break(`an Event about ${thing} at ${where}`)
    }
    if (watched.open !== undefined) this.#break(`a second Event about ${thing} at ${where}`)
    watched.open = { id: entry.entityId, number }
    const cause = this.#cause?.thing === thing ? this.#cause : undefined
    const isCaused = cause?.isNewer === true && cause.level > (form?.above ?? Infinity)
    if (cause !== undefined) cause.hasOpened = true
    if (!isCaused) this.#break(`an Event about ${thing} has no cause at ${where}`)
    if (number < least || number > most) this.#break(`change ${number} opens at ${where}`)
  }

  #close({ entityId }: Entry, span: Span, where: string): void {
    const found = [...this.#things].find(([, { open }]) => open?.id === entityId)
    if (found === undefined) return this.#break(`the end of ${entityId}, not open, at ${where}`)
    const [thing, watched] = found
    const { number = 0 } = watched.open ?? {}
    watched.open = undefined
    const cause = this.#cause?.thing === thing ? this.#cause : undefined
    const isOver = ({ above }: RuleChange): boolean =>
      cause?.isNewer === true && above !== undefined && cause.level <= above
    const isEnded = !this.#goesOn(number, span.most)
    if (!isEnded && !this.#within(span).some(isOver)) this.#break(`an end too early at ${where}`)
  }

  /** An Event of a form that is no longer there has ended. */
  #end(): void {
    const last = this.#changes.length - 1
    const isKnown = this.#changes[last]?.knownMs !== Infinity
    const span = { least: isKnown ? last : last - 1, most: last }
    for (const [thing, { open }] of this.#things) {
      if (open === undefined || this.#mayGoOn(open.number, span)) continue
      this.#break(`the Event about ${thing} of change ${open.number} has not ended`)
    }
  }

  #within({ least, most }: Span): readonly RuleChange[] {
    return this.#changes.slice(least, most + 1)
  }

  #mayGoOn(number: number, { least, most }: Span): boolean {
    for (let to = Math.max(least, number); to <= most; to += 1) {
      if (this.#goesOn(number, to)) return true
    }
    return false
  }

  /** True when every change from one to another has left the condition as it was. */
  #goesOn(from: number, to: number): boolean {
    const first = this.#changes[from]?.above
    return this.#changes.slice(from, to + 1).every(({ above }) => above === first)
  }
}

function numberOf({ action, payload }: Entry): number | undefined {
  if (action !== 'create') return undefined
  const { title = '' } = JSON.parse(payload) as { readonly title?: string }
  return numberOfChange(title)
}

// Reads the rules of a channel, and tries a rule over its kept history. Rules are put and deleted
// by submissions (submissions.ts).
//
// Invariants:
//   rule-reads/1. A trial reads a bounded part of the history, page by page, and writes nothing.

import { fault, isFault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { Answer, NowMs } from '#domain/ports'
import type { ListedRule, RuleStore } from '#domain/rules/stored'
import type { Page, ReadStore } from '#domain/store-ports'
import { Trial } from '#src/rules/trial'
import { readRuleGet, readRuleList, readRuleTest } from '#src/schemas/rules/rule-requests'
import type { RuleTrial, Tried } from '#src/schemas/rules/rule-requests'
import type { Credentials } from '#src/schemas/values'
import type { Caller } from './caller.ts'
import type { ChannelAccess } from './channel-access.ts'

export interface RulePorts {
  readonly rules: RuleStore
  readonly read: Pick<ReadStore, 'history'>
  readonly access: ChannelAccess
  readonly nowMs: NowMs
}

/** Entries of the feed that one trial reads, and those of a page. */
const TRIAL_ENTRIES_MAX = 50_000
const PAGE_ENTRIES = 500

export class RuleReads {
  readonly #ports: RulePorts

  constructor(ports: RulePorts) {
    this.#ports = ports
  }

  async get(fields: unknown, caller: Caller): Promise<Answer<ListedRule>> {
    const opened = await this.#opened(readRuleGet, fields, caller)
    if (isFault(opened)) return opened
    const { channelId, ruleId } = opened
    return (await this.#ports.rules.rule(channelId, ruleId)) ?? fault('rule_not_found')
  }

  /** In the order of their ids. */
  async list(fields: unknown, caller: Caller): Promise<Answer<Page<ListedRule>>> {
    const opened = await this.#opened(readRuleList, fields, caller)
    return isFault(opened) ? opened : this.#ports.rules.list(opened.channelId, opened)
  }

  /** Returns what a rule would have opened or sent. */
  async test(fields: unknown, caller: Caller): Promise<Answer<Tried>> {
    const opened = await this.#opened(readRuleTest, fields, caller)
    return isFault(opened) ? opened : this.#try(opened.channelId, opened)
  }

  async #try(channelId: ChannelId, { rule, from = 0, to }: RuleTrial): Promise<Tried> {
    const trial = new Trial({ ruleId: TRIED, version: '', since: 0, rule })
    const end = to ?? this.#ports.nowMs()
    let entries = 0
    let afterSeq = 0
    // rule-reads/1
    while (entries < TRIAL_ENTRIES_MAX && !trial.isFull) {
      const page = { channelId, model: 'thing', afterSeq, limit: PAGE_ENTRIES } as const
      const { items, next } = await this.#ports.read.history(page)
      const within = items.filter(({ acceptedAt }) => acceptedAt <= end)
      for (const entry of within) trial.take(entry)
      entries += within.length
      if (next === undefined) {
        trial.pass(end)
        return triedOf(trial, { from, entries, isComplete: !trial.isFull })
      }
      afterSeq = next
    }
    return triedOf(trial, { from, entries, isComplete: false })
  }

  async #opened<Request extends Credentials>(
    read: (fields: unknown) => Answer<Request>,
    sent: unknown,
    from: Caller,
  ): Promise<Answer<Request>> {
    const opened = await this.#ports.access.readWhole(read, sent, { from, scope: 'read' })
    return isFault(opened) ? opened : (opened.caller.refusal ?? opened.request)
  }
}

const TRIED = 'tried' as ListedRule['ruleId']

const triedOf = (
  { firings }: Trial,
  { from, entries, isComplete }: { from: number; entries: number; isComplete: boolean },
): Tried => ({ firings: firings.filter(({ firedAt }) => firedAt >= from), entries, isComplete })

// Reads the rules of a channel, and has them tried (rule-trials.ts). Rules are put and deleted by
// submissions (submissions.ts).

import { fault, isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { ListedRule, RuleStore } from '#domain/rules/stored'
import type { Page } from '#domain/store-ports'
import { readRuleGet, readRuleList, readRuleTest } from '#src/schemas/rules/rule-requests'
import type { Tried } from '#src/schemas/rules/rule-requests'
import type { Credentials } from '#src/schemas/values'
import type { Caller } from './caller.ts'
import type { ChannelAccess } from './channel-access.ts'
import { RuleTrials } from './rule-trials.ts'
import type { TrialPorts } from './rule-trials.ts'

export interface RulePorts extends TrialPorts {
  readonly rules: RuleStore
  readonly access: ChannelAccess
}

export class RuleReads {
  readonly #ports: RulePorts
  readonly #trials: RuleTrials

  constructor(ports: RulePorts) {
    this.#ports = ports
    this.#trials = new RuleTrials(ports)
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
    return isFault(opened) ? opened : this.#trials.run(opened.channelId, opened)
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

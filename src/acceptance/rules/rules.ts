// Reads the rules of a channel, and has them tried (rule-trials.ts). Rules are put and deleted by
// submissions (submissions.ts).

import { fault, isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { ListedRule } from '#domain/rules/stored'
import type { Page } from '#domain/store-ports'
import { READ_RULE } from '#src/schemas/rules/rule-requests'
import type { Tried } from '#src/schemas/rules/rule-requests'
import type { Credentials } from '#src/schemas/values'
import type { Caller } from '#src/acceptance/caller'
import { RuleTrials } from './rule-trials.ts'
import type { Stage } from '#src/acceptance/stage'

export class RuleReads {
  readonly #ports: Stage
  readonly #trials: RuleTrials

  constructor(ports: Stage) {
    this.#ports = ports
    this.#trials = new RuleTrials(ports)
  }

  async get(fields: unknown, caller: Caller): Promise<Answer<ListedRule>> {
    const opened = await this.#opened(READ_RULE.get, fields, caller)
    if (isFault(opened)) return opened
    const { channelId, ruleId } = opened
    return (await this.#ports.rules.rule(channelId, ruleId)) ?? fault('rule_not_found')
  }

  /** In the order of their ids. */
  async list(fields: unknown, caller: Caller): Promise<Answer<Page<ListedRule>>> {
    const opened = await this.#opened(READ_RULE.list, fields, caller)
    return isFault(opened) ? opened : this.#ports.rules.list(opened.channelId, opened)
  }

  /** Returns what a rule would have opened or sent. */
  async test(fields: unknown, caller: Caller): Promise<Answer<Tried>> {
    const opened = await this.#opened(READ_RULE.test, fields, caller)
    return isFault(opened) ? opened : this.#trials.run(opened.channelId, opened)
  }

  async #opened<Request extends Credentials>(
    read: (fields: unknown) => Answer<Request>,
    fields: unknown,
    caller: Caller,
  ): Promise<Answer<Request>> {
    const { access } = this.#ports
    const opened = await access.open({ fields, caller, read, scope: 'read', isWhole: true })
    return isFault(opened) ? opened : opened.request
  }
}

// The rules of channels in memory, for callers.

import type { ChannelId, RuleId } from '#domain/identity'
import type { ListedRule, RuleStore } from '#domain/rules/stored'
import { EXAMPLES } from '#src/schemas/document/examples'
import { ruleId } from '#test/support/rules'

export class FakeRules implements RuleStore {
  kept: ListedRule[] = [
    {
      ruleId: ruleId(EXAMPLES.rule_id),
      text: JSON.stringify(EXAMPLES.rule),
      version: 'v',
      since: 1,
      createdAt: 2,
      updatedAt: 3,
      failures: { count: 0 },
    },
  ]

  async rule(_channelId: ChannelId, id: RuleId): Promise<ListedRule | undefined> {
    return this.kept.find((one) => one.ruleId === id)
  }

  async list(
    _channelId: ChannelId,
    { after, limit }: { readonly after: number; readonly limit: number },
  ) {
    const items = this.kept.slice(after, after + limit)
    const next = after + items.length
    return next < this.kept.length ? { items, next } : { items }
  }
}

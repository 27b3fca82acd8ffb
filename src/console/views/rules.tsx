// The rules of a channel: what each watches, whether it is on, and what it has open.

import type { RuleRecord } from '#src/client/bodies'
import type { ThingView } from '#src/client/view'
import { second } from '#console/state/clock.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { hashOf } from '#console/state/route.ts'
import { jsonOfRule, listRules, openEventsOf, rulesChanged, watches } from '#console/state/rules.ts'
import { plain } from '#console/state/text.ts'
import { failureText, summaryOf } from '#console/rules/rule-sentence.ts'
import { age, t } from '#console/words/words.ts'
import { Empty } from '#console/parts/form.tsx'
import { Failure, useFound } from '#console/parts/page.tsx'
import { Said } from '#console/parts/text.tsx'

const READ_AGAIN_MS = 10_000

/** The rules of a channel, read anew while a person looks; undefined before the first answer. */
function useRules(channelId: string) {
  const beat = Math.floor(second.value / READ_AGAIN_MS)
  const inputs = [channelId, beat, rulesChanged.value]
  const { found: rules, failure } = useFound((ended) => listRules(channelId, ended), inputs)
  return { rules, failure }
}

export function Rules({ channel }: { readonly channel: LiveChannel }) {
  const { rules, failure } = useRules(channel.id)
  void channel.eventsDrawn.value
  const write = (
    <a class="button" href={hashOf({ view: 'rule', channelId: channel.id, id: '' })}>
      {t('writeRule')}
    </a>
  )
  return (
    <div class="rules">
      <header class="view">
        <h1>{t('rules')}</h1>
        {rules !== undefined && rules.length > 0 && write}
      </header>
      <Failure error={failure} />
      {rules === undefined && failure === undefined && <p class="lead">{t('loading')}</p>}
      {rules?.length === 0 && (
        <Empty title={t('noRules')} text={t('noRulesText')}>
          {write}
        </Empty>
      )}
      <RuleList rules={rules ?? []} channel={channel} />
    </div>
  )
}

interface RulesOfThingProps {
  readonly channel: LiveChannel
  readonly thing: ThingView
}

/** The rules that watch a Thing. */
export function RulesOfThing({ channel, thing }: RulesOfThingProps) {
  const { rules } = useRules(channel.id)
  if (rules === undefined) return null
  const watching = rules.filter((rule) => watches(jsonOfRule(rule), thing))
  return (
    <section>
      <h2>{t('rulesOfThing')}</h2>
      {watching.length === 0 ? (
        <p class="hint">{t('noRulesOfThing')}</p>
      ) : (
        <RuleList rules={watching} channel={channel} />
      )}
    </section>
  )
}

interface RuleListProps {
  readonly rules: readonly RuleRecord[]
  readonly channel: LiveChannel
}

const RuleList = ({ rules, channel }: RuleListProps) => (
  <ul class="timeline">
    {rules.map((record) => (
      <Row key={record.rule_id} record={record} channel={channel} />
    ))}
  </ul>
)

function Row({ record, channel }: { readonly record: RuleRecord; readonly channel: LiveChannel }) {
  const { rule_id: id, failures, updated_at: updatedAt } = record
  const rule = jsonOfRule(record)
  const open = openEventsOf(channel, id).length
  const title = plain(rule['title'] ?? id)
  return (
    <li>
      <a
        class={open > 0 ? 'open' : 'closed'}
        href={hashOf({ view: 'rule', channelId: channel.id, id })}
      >
        <span class="what">
          <strong>
            <Said text={title} />
          </strong>
          <span class="news">
            <Said text={summaryOf(rule, channel.presentation.value)} />
          </span>
        </span>
        <span class="marks">
          {open > 0 && <span class="state open">{t('ruleOpen', { n: open })}</span>}
          {failures > 0 && <span class="mark">{failureText(record, channel.things)}</span>}
          <span class="state">{t(rule['enabled'] === false ? 'ruleOff' : 'ruleOn')}</span>
        </span>
        <span class="when">
          <code>{id}</code>
          <time>{t('ruleChanged', { age: age(second.value - updatedAt) })}</time>
        </span>
      </a>
    </li>
  )
}

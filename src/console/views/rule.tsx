// One rule: written with a form or as JSON, tried on the kept history, saved, deleted.

import { useState } from 'preact/hooks'

import type { RuleRecord } from '#src/client/bodies'
import { codeOf } from '#console/state/gateway.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { go, hashOf } from '#console/state/route.ts'
import { BLANK_PART, BLANK_RULE } from '#console/state/rule-form.ts'
import type { RuleJson } from '#console/state/rule-form.ts'
import {
  deleteRule,
  faultOf,
  jsonOfRule,
  lackingOf,
  openEventsOf,
  readRule,
  rulesChanged,
} from '#console/state/rules.ts'
import type { RuleFault } from '#console/state/rules.ts'
import { plain } from '#console/state/text.ts'
import { failureText } from '#console/rules/rule-sentence.ts'
import { sentenceOf, t } from '#console/words/words.ts'
import { Empty } from '#console/parts/form.tsx'
import { useFound } from '#console/parts/page.tsx'
import { Sure } from '#console/parts/sure.tsx'
import { Said } from '#console/parts/text.tsx'
import { EventList } from './events.tsx'
import { Editor, draftOf, ruleOf } from './rule-editor.tsx'
import type { Draft } from './rule-editor.tsx'
import { Trial } from './rule-trial.tsx'

interface RuleProps {
  readonly channel: LiveChannel
  /** '' for a rule that is not put yet. */
  readonly id: string
}

export function Rule({ channel, id }: RuleProps) {
  const { found: record, failure } = useFound(
    (ended) => (id === '' ? undefined : readRule(channel.id, id, ended)),
    [channel, id, rulesChanged.value],
  )
  if (failure !== undefined) {
    const isMissing = codeOf(failure) === 'rule_not_found'
    return (
      <Empty
        title={isMissing ? t('noRule') : sentenceOf(failure)}
        {...(isMissing && { text: t('noRuleText') })}
      >
        <a href={hashOf({ view: 'rules', channelId: channel.id })}>{t('toRules')}</a>
      </Empty>
    )
  }
  if (id !== '' && record === undefined) return <p class="lead">{t('loading')}</p>
  return <Opened channel={channel} id={id} record={record} />
}

interface OpenedProps extends RuleProps {
  readonly record: RuleRecord | undefined
}

function Opened({ channel, id, record }: OpenedProps) {
  const [draft, setDraft] = useState<Draft>(() =>
    record === undefined ? { kind: 'form', form: BLANK_RULE } : draftOf(jsonOfRule(record)),
  )
  const [fault, setFault] = useState<RuleFault>()
  const write = (next: Draft): void => {
    setDraft(next)
    setFault(undefined)
  }
  /** Does something with the rule, and shows a fault of it where it is. */
  const withRule = async (work: (rule: RuleJson) => Promise<unknown>): Promise<void> => {
    setFault(undefined)
    try {
      await work(ruleOf(draft))
    } catch (error) {
      setFault(faultOf(error))
      throw error
    }
  }
  const title = record === undefined ? t('newRule') : plain(jsonOfRule(record)['title'] ?? id)
  return (
    <div class="rule">
      <header class="view">
        <h1>
          <Said text={title} />
        </h1>
        {record !== undefined && <Facts record={record} channel={channel} />}
      </header>
      {record !== undefined && (
        <Lacking record={record} channel={channel} draft={draft} onDraft={write} />
      )}
      <div class="columns">
        <section class="card">
          <Editor
            channel={channel}
            id={id}
            draft={draft}
            onDraft={write}
            fault={fault}
            withRule={withRule}
          />
          {record !== undefined && (
            <div class="actions">
              <Sure
                button={t('ruleDelete')}
                question={t('ruleDeleteSure')}
                isDanger
                onSure={() =>
                  deleteRule(channel.id, id).then(() =>
                    go({ view: 'rules', channelId: channel.id }),
                  )
                }
              />
            </div>
          )}
        </section>
        <Trial channel={channel} withRule={withRule} />
      </div>
      {record !== undefined && <Open channel={channel} id={id} />}
    </div>
  )
}

interface FactsProps {
  readonly channel: LiveChannel
  readonly record: RuleRecord
}

function Facts({ record, channel }: FactsProps) {
  const isOff = jsonOfRule(record)['enabled'] === false
  return (
    <p class="sum">
      <code>{record.rule_id}</code>
      <span class="state">{t(isOff ? 'ruleOff' : 'ruleOn')}</span>
      {record.failures > 0 && (
        <span class="mark">
          <Said text={failureText(record, channel.things)} />
        </span>
      )}
    </p>
  )
}

interface LackingProps extends FactsProps {
  readonly draft: Draft
  readonly onDraft: (draft: Draft) => void
}

/** Offers a condition that leaves out the Things without the value. */
function Lacking({ record, channel, draft, onDraft }: LackingProps) {
  void channel.members.value
  const lacking = lackingOf(record, channel.things)
  if (lacking === undefined || draft.kind !== 'form') return null
  const { form } = draft
  const { name } = lacking
  const isAsked = form.when.some(({ test, attr }) => test === 'has' && attr === name)
  if (isAsked || (form.join === 'any' && form.when.length > 1)) return null
  const part = { ...BLANK_PART, test: 'has', attr: name } as const
  return (
    <div class="notice">
      <p>{t('lackingText', { name })}</p>
      <button
        type="button"
        onClick={() =>
          onDraft({ kind: 'form', form: { ...form, join: 'all', when: [part, ...form.when] } })
        }
      >
        {t('askFirst', { name })}
      </button>
    </div>
  )
}

function Open({ channel, id }: RuleProps) {
  void channel.eventsDrawn.value
  const events = openEventsOf(channel, id)
  if (events.length === 0) return null
  return (
    <section>
      <h2>{t('eventsOfRule')}</h2>
      <EventList events={events} channel={channel} />
    </section>
  )
}

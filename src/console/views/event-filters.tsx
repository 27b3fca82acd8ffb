// What a person chooses among Events: the tab, and search and filters, which the address keeps.

import type { EventView } from '#src/client/view'
import { TABS, listOf, ruleIdOf } from '#console/people/events.ts'
import type { EventWish, Tab } from '#console/people/events.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { ask, asked, hashOf } from '#console/state/route.ts'
import { t } from '#console/words/words.ts'
import { Choice, Field } from '#console/parts/form.tsx'
import { SeverityChoice } from '#console/parts/severity.tsx'

const TAB_WORDS = {
  open: 'openEvents',
  acknowledged: 'acknowledgedEvents',
  closed: 'closedEvents',
} as const

interface TabsProps {
  readonly channel: LiveChannel
  readonly tab: Tab
  readonly counts: ReadonlyMap<Tab, readonly unknown[]>
}

/** The tabs of the Events, each with its number; they are links. */
export const EventTabs = ({ channel, tab, counts }: TabsProps) => (
  <ul class="event-tabs">
    {TABS.map((name) => (
      <li key={name}>
        <a
          href={hashOf(
            { view: 'events', channelId: channel.id },
            { ...asked.value, tab: name === 'open' ? '' : name },
          )}
          aria-current={name === tab ? 'page' : undefined}
        >
          {t(TAB_WORDS[name])} <span class="count">{counts.get(name)?.length ?? 0}</span>
        </a>
      </li>
    ))}
  </ul>
)

interface WishesProps {
  readonly events: readonly EventView[]
  readonly wish: EventWish
  readonly titles: ReadonlyMap<string, string>
}

/** Search and filters; the rules and tags of the Events that are there. */
export function EventWishes({ events, wish, titles }: WishesProps) {
  const rules = [...new Set(events.map(ruleIdOf))].filter(Boolean).toSorted()
  const tags = [...new Set(events.flatMap(({ fields }) => listOf(fields['tags'])))].toSorted()
  const every = ['', t('filterAll')] as const
  return (
    <div class="wishes" role="search">
      <Field
        label={t('search')}
        value={wish.search}
        onValue={(search) => ask({ search })}
        input={{ type: 'search' }}
      />
      <SeverityChoice
        value={wish.severity}
        none={t('filterAll')}
        onValue={(severity) => ask({ severity })}
      />
      {rules.length > 0 && (
        <Choice
          label={t('rule')}
          value={wish.rule}
          options={[every, ...rules.map((id) => [id, titles.get(id) || id] as const)]}
          onValue={(rule) => ask({ rule })}
        />
      )}
      {tags.length > 0 && (
        <Choice
          label={t('tag')}
          value={wish.tag}
          options={[every, ...tags.map((tag) => [tag, tag] as const)]}
          onValue={(tag) => ask({ tag })}
        />
      )}
    </div>
  )
}

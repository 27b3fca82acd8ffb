// What needs attention: at most five rows, one for each rule, with what a person can do at once.

import { second } from '#console/state/clock.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { hashOf } from '#console/state/route.ts'
import { span, t } from '#console/words/words.ts'
import { Acknowledge } from '#console/parts/acknowledge.tsx'
import { Severity } from '#console/parts/severity.tsx'
import { Said } from '#console/parts/text.tsx'
import { eventTitle } from '#console/people/events.ts'
import { beganAt } from '#console/views/events.tsx'
import type { Opened } from './open-events.ts'
import { concernsOf } from './standing.ts'
import type { Concern } from './standing.ts'

const ROWS_MAX = 5

interface AttentionProps {
  readonly opened: Opened
  /** False for a display that nobody uses. */
  readonly isUsed: boolean
}

export function Attention({ opened, isUsed }: AttentionProps) {
  const concerns = concernsOf(opened.open, second.value)
  if (concerns.length === 0) return null
  return (
    <section class="attention" aria-labelledby="needs-attention">
      <h2 id="needs-attention">{t('needsAttention')}</h2>
      <ul>
        {concerns.slice(0, ROWS_MAX).map((concern) => (
          <Row
            key={`${concern.channel.id} ${concern.ruleId} ${concern.events[0]?.id}`}
            concern={concern}
            opened={opened}
            isUsed={isUsed}
          />
        ))}
      </ul>
      {concerns.length > ROWS_MAX && (
        <p class="hint">{t('moreConcerns', { n: concerns.length - ROWS_MAX })}</p>
      )}
    </section>
  )
}

interface RowProps extends AttentionProps {
  readonly concern: Concern<LiveChannel>
}

function Row({ concern, opened, isUsed }: RowProps) {
  const { channel, ruleId, events } = concern
  const [first] = events
  if (first === undefined) return null
  const isOne = events.length === 1
  const title = isOne ? eventTitle(first) : opened.titleOf(channel, ruleId)
  const began = Math.min(...events.map((event) => beganAt(channel, event) ?? second.value))
  const place = isOne
    ? hashOf({ view: 'event', channelId: channel.id, id: first.id })
    : hashOf({ view: 'events', channelId: channel.id }, { rule: ruleId })
  return (
    <li>
      <Severity severity={first.fields['severity'] ?? 'normal'} />
      <a href={place}>
        <Said text={title} />
        {!isOne && t('ofThings', { n: events.length })}
      </a>
      <span class="of">{t('lasting', { age: span(second.value - began) })}</span>
      {isUsed && <Acknowledge channel={channel} events={events} title={title} />}
    </li>
  )
}

// One Thing: its values with the course of each, its Events, and what a person can do to it.

import { useEffect, useState } from 'preact/hooks'

import type { Json } from '#domain/submission'
import { nowMs, second } from '#console/state/clock.ts'
import { client } from '#console/state/gateway.ts'
import { readerOf } from '#console/state/history.ts'
import { wantPast } from '#console/state/past-reads.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { go, hashOf } from '#console/state/route.ts'
import { observedAt, titleOf } from '#console/state/search.ts'
import { plain, visible } from '#console/state/text.ts'
import { age, t } from '#console/words/words.ts'
import { Empty } from '#console/parts/form.tsx'
import { Sure } from '#console/parts/sure.tsx'
import { LongText, Outward, Said, hostOf } from '#console/parts/text.tsx'
import { Value } from '#console/parts/value.tsx'
import { EventList } from './events.tsx'
import { RulesOfThing } from './rules.tsx'
import { Send } from './send.tsx'
import { Courses } from './thing-courses.tsx'

interface ThingProps {
  readonly channel: LiveChannel
  readonly id: string
}

export function Thing({ channel, id }: ThingProps) {
  void channel.thingsDrawn.value
  void channel.members.value
  void channel.eventsDrawn.value
  const thing = channel.things.get(id)
  const isCurrent = channel.isCurrent.value
  useEffect(() => wantPast(channel, id), [channel, id, isCurrent])
  if (thing === undefined) {
    if (!channel.isCurrent.value) return <p class="lead">{t('loading')}</p>
    return (
      <Empty title={t('noThing')} text={t('noThingText')}>
        <a href={hashOf({ view: 'board', channelId: channel.id })}>{t('toBoard')}</a>
      </Empty>
    )
  }
  const { fields, attrs, externalIds, state } = thing
  const watched = channel.watched(id)
  const events = [...channel.events.values()].filter((event) => event.fields['thing_id'] === id)
  return (
    <article class="thing">
      <header class="view">
        <h1>
          <Said text={titleOf(thing)} />
        </h1>
        <p class="sum">
          <code>{id}</code>
          {state === 'archived' && <span class="state">{t('archived')}</span>}
          <span>{t('observed', { age: age(second.value - observedAt(thing)) })}</span>
        </p>
      </header>
      {typeof fields['description'] === 'string' && fields['description'] !== '' && (
        <p class="lead">
          <LongText text={fields['description']} />
        </p>
      )}
      <h2 class="unseen">{t('attrs')}</h2>
      <div class="values tiles">
        {Object.entries(attrs).map(([name, value]) => (
          <Value key={name} name={name} value={value} setAt={watched?.setAt.get(name)} />
        ))}
      </div>
      <Courses channel={channel} thing={thing} />
      <Facts fields={fields} externalIds={externalIds} />
      <section>
        <h2>{t('eventsOfThing')}</h2>
        {events.length === 0 ? (
          <p class="hint">{t('noEventsOfThing')}</p>
        ) : (
          <EventList events={events.toSorted((a, b) => b.seq - a.seq)} channel={channel} />
        )}
      </section>
      <RulesOfThing channel={channel} thing={thing} />
      <Changes channel={channel} id={id} isArchived={state === 'archived'} />
    </article>
  )
}

/** Fields that stand elsewhere on the page. */
const SHOWN_ELSEWHERE = new Set(['title', 'description', 'observed_at', 'ciphertext'])

interface FactsProps {
  readonly fields: Readonly<Record<string, Json>>
  readonly externalIds: Readonly<Record<string, Json>>
}

function Facts({ fields, externalIds }: FactsProps) {
  const rest = Object.entries(fields).filter(([name]) => !SHOWN_ELSEWHERE.has(name))
  return (
    <div class="columns">
      {rest.length > 0 && <List title={t('fields')} entries={rest} />}
      {Object.keys(externalIds).length > 0 && (
        <List title={t('externalIds')} entries={Object.entries(externalIds)} />
      )}
    </div>
  )
}

interface ListProps {
  readonly title: string
  readonly entries: readonly (readonly [name: string, value: Json])[]
}

const List = ({ title, entries }: ListProps) => (
  <section class="card">
    <h2>{title}</h2>
    <dl class="facts">
      {entries.map(([name, value]) => (
        <>
          <dt>
            <bdi>{visible(name)}</bdi>
          </dt>
          <dd>{factOf(value)}</dd>
        </>
      ))}
    </dl>
  </section>
)

function factOf(value: Json) {
  if (typeof value === 'string' && /^https?:/.test(value)) {
    return <Outward href={value} text={hostOf(value)} />
  }
  return <LongText text={Array.isArray(value) ? value.map(plain).join(', ') : plain(value)} />
}

interface ChangesProps extends ThingProps {
  readonly isArchived: boolean
}

function Changes({ channel, id, isArchived }: ChangesProps) {
  const [isEdited, setEdited] = useState(false)
  const about = () => ({ ...readerOf(channel.id), thing_id: id, observed_at: nowMs() })
  return (
    <section>
      <div class="actions">
        <button type="button" aria-expanded={isEdited} onClick={() => setEdited(!isEdited)}>
          {t('edit')}
        </button>
        {!isArchived && (
          <Sure
            button={t('archive')}
            question={t('archiveSure')}
            onSure={() => client.peek().thing.archive(about())}
          />
        )}
        <Sure
          button={t('remove')}
          question={t('removeSure')}
          isDanger
          onSure={() =>
            client
              .peek()
              .thing.delete(about())
              .then(() => go({ view: 'board', channelId: channel.id }))
          }
        />
      </div>
      {isEdited && <Send channel={channel} thingId={id} />}
    </section>
  )
}

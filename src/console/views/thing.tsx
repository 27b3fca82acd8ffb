// One Thing: its state, its values with the course of each, its Events and rules, and what a person
// can do to it.

import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'

import type { RuleRecord } from '#src/client/bodies'
import type { EventView, ThingView } from '#src/client/view'
import type { Json } from '#domain/submission'
import { eventTitle, rankOf } from '#console/people/events.ts'
import { nowMs, second } from '#console/state/clock.ts'
import { client } from '#console/state/gateway.ts'
import { readerOf } from '#console/state/history.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { useCourses } from '#console/state/past/live-courses.ts'
import type { RuleJson } from '#console/state/rule-form.ts'
import { go, hashOf } from '#console/state/route.ts'
import { jsonOfRule, listRules, watches } from '#console/state/rules.ts'
import { observedAt, titleOf } from '#console/search/search.ts'
import { SPANS } from '#console/state/past/span.ts'
import { plain, visible } from '#console/state/text.ts'
import { age, t } from '#console/words/words.ts'
import { Empty } from '#console/parts/form.tsx'
import { Card, useFound } from '#console/parts/page.tsx'
import { Severity } from '#console/parts/severity.tsx'
import { Sure } from '#console/parts/sure.tsx'
import { LongText, Outward, Said, TITLE_MAX, hostOf } from '#console/parts/text.tsx'
import { Tiles } from '#console/parts/tiles.tsx'
import { Lasting, shadesOf } from './events.tsx'
import { RulesOfThing } from './rules.tsx'
import { Send } from './send.tsx'
import { Courses } from './thing-courses.tsx'
import { EventsOfThing, useEvents } from './thing-events.tsx'

interface ThingProps {
  readonly channel: LiveChannel
  readonly id: string
}

export function Thing({ channel, id }: ThingProps) {
  void channel.thingsDrawn.value
  void channel.members.value
  const thing = channel.things.get(id)
  // Most frames change other Things: then nothing is drawn.
  const opened = useMemo(
    () => thing && <Opened key={thing.id} channel={channel} thing={thing} />,
    [channel, thing],
  )
  if (opened !== undefined) return opened
  if (!channel.isCurrent.value) return <p class="lead">{t('loading')}</p>
  return (
    <Empty title={t('noThing')} text={t('noThingText')}>
      <a href={hashOf({ view: 'overview', channelId: channel.id })}>{t('toOverview')}</a>
    </Empty>
  )
}

const DAY = { lengthMs: SPANS.day }

interface OpenedProps {
  readonly channel: LiveChannel
  readonly thing: ThingView
}

function Opened({ channel, thing }: OpenedProps) {
  const { fields, attrs, externalIds, id } = thing
  const [isEdited, setEdited] = useState(false)
  const [isDetailed, setDetailed] = useState(false)
  const { events, ...read } = useEvents(channel, id)
  const shades = useMemo(() => shadesOf(channel, events), [channel, events])
  const rules = useRules(channel, thing)
  const numbers = Object.keys(attrs).filter((name) => typeof attrs[name] === 'number')
  const day = useCourses(channel, [{ thingId: id, attrs: numbers }], DAY)
  return (
    <article class="thing">
      <Head channel={channel} thing={thing} events={events} failure={read.failure}>
        <button type="button" aria-expanded={isEdited} onClick={() => setEdited(!isEdited)}>
          {t('edit')}
        </button>
      </Head>
      {isEdited && <Send channel={channel} thingId={id} />}
      {typeof fields['description'] === 'string' && fields['description'] !== '' && (
        <p class="lead">
          <LongText text={fields['description']} />
        </p>
      )}
      <h2 class="unseen">{t('attrs')}</h2>
      <Tiles channel={channel} thing={thing} dayOf={(attr) => day.of(id, attr)} />
      <Courses channel={channel} thing={thing} rules={rules} shades={shades} />
      <EventsOfThing channel={channel} events={events} {...read} />
      <RulesOfThing channel={channel} thing={thing} />
      <details onToggle={(event) => setDetailed(event.currentTarget.open)}>
        <summary>{t('details')}</summary>
        {isDetailed && (
          <>
            <Facts fields={fields} externalIds={externalIds} />
            <Endings channel={channel} thing={thing} />
          </>
        )}
      </details>
    </article>
  )
}

const NO_RULES: readonly RuleRecord[] = []

/** The rules in force that watch a Thing, for the limits that they set. */
function useRules(channel: LiveChannel, thing: ThingView): readonly RuleJson[] {
  const { found = NO_RULES } = useFound((ended) => listRules(channel.id, ended), [channel])
  const { tags } = thing.fields
  return useMemo(
    () => found.map(jsonOfRule).filter((rule) => rule['enabled'] !== false && watches(rule, thing)),
    [found, thing.id, tags],
  )
}

interface HeadProps extends OpenedProps {
  readonly events: readonly EventView[]
  /** Why the Events could not be read. */
  readonly failure: unknown
  readonly children: ComponentChildren
}

function Head({ channel, thing, events, failure, children }: HeadProps) {
  const { id, state } = thing
  const [worst] = events
    .filter((event) => event.state === 'open')
    .toSorted((a, b) => rankOf(a) - rankOf(b))
  return (
    <>
      <p class="crumbs">
        <a href={hashOf({ view: 'overview', channelId: channel.id })}>{t('overview')}</a> ›{' '}
        <code>{id}</code>
      </p>
      <header class="view">
        <h1>
          <LongText key={id} text={titleOf(thing)} max={TITLE_MAX} />
        </h1>
        <p class="sum">
          {state === 'archived' && <span class="state">{t('archived')}</span>}
          {worst === undefined ? (
            state !== 'archived' &&
            failure === undefined && <span class="state good">{t('stateOk')}</span>
          ) : (
            <>
              <Severity severity={worst.fields['severity']} />
              <a href={hashOf({ view: 'event', channelId: channel.id, id: worst.id })}>
                <Said text={eventTitle(worst)} />
              </a>
              <Lasting event={worst} channel={channel} />
            </>
          )}
          <span>{t('observed', { age: age(second.value - observedAt(thing)) })}</span>
        </p>
        <div class="actions">{children}</div>
      </header>
    </>
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
  <Card title={title}>
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
  </Card>
)

function factOf(value: Json) {
  if (typeof value === 'string' && /^https?:/.test(value)) {
    return <Outward href={value} text={hostOf(value)} />
  }
  return <LongText text={Array.isArray(value) ? value.map(plain).join(', ') : plain(value)} />
}

/** Archiving and deleting a Thing. */
function Endings({ channel, thing: { id, state } }: OpenedProps) {
  const about = () => ({ ...readerOf(channel.id), thing_id: id, observed_at: nowMs() })
  return (
    <div class="actions">
      {state !== 'archived' && (
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
            .then(() => go({ view: 'overview', channelId: channel.id }))
        }
      />
    </div>
  )
}

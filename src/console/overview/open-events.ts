// What an overview knows of its channels: their rules, their open Events, and the Things of these.

import { signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'

import type { Json } from '#domain/submission'
import type { EventView } from '#src/client/view'
import { rankOf } from '#console/people/events.ts'
import { second } from '#console/state/clock.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { listRules, rulesChanged } from '#console/state/rules.ts'
import { isAboutSilence, standingOf, thingOf } from './standing.ts'
import type { OpenEvent, Standing } from './standing.ts'

/** A rule as an overview uses it. */
interface KnownRule {
  readonly title: string
  readonly isSilence: boolean
}

type RulesOfChannel = ReadonlyMap<string, KnownRule>

/** By channel its rules; a channel whose rules are not read yet has none here. */
const rules = signal<ReadonlyMap<string, RulesOfChannel>>(new Map())

/** The rules of channels by their ids, read when the view opens and after a change. */
export function useRules(channels: readonly LiveChannel[]): ReadonlyMap<string, RulesOfChannel> {
  const ids = channels.map(({ id }) => id).join(' ')
  const areCurrent = channels.map(({ isCurrent }) => isCurrent.value).join(' ')
  useEffect(() => {
    const ended = new AbortController()
    for (const { id, isCurrent } of channels) {
      if (!isCurrent.peek()) continue
      listRules(id, ended.signal).then(
        (found) => {
          const known = found.map(({ rule_id, rule }): [string, KnownRule] => {
            const { title, when, enabled } = rule as Readonly<Record<string, Json>>
            const isSilence = enabled !== false && isAboutSilence(when)
            return [rule_id, { title: typeof title === 'string' ? title : rule_id, isSilence }]
          })
          rules.value = new Map([...rules.peek(), [id, new Map(known)]])
        },
        () => undefined, // A key that reads no rules: their Events stand under their ids.
      )
    }
    return () => ended.abort()
  }, [ids, areCurrent, rulesChanged.value])
  return rules.value
}

export interface Opened {
  readonly open: readonly OpenEvent<LiveChannel>[]
  readonly standing: Standing
  /** The open Events of a Thing, the gravest first. */
  readonly of: (channel: LiveChannel, thingId: string) => readonly EventView[]
  readonly isSilence: (channel: LiveChannel, ruleId: string) => boolean
  /** The title of a rule, or its id. */
  readonly titleOf: (channel: LiveChannel, ruleId: string) => string
  /** True when the rules are known, and one of them watches for silence; in every channel. */
  readonly areHeard: boolean
  /** True when the rules of every channel are known. */
  readonly areRulesKnown: boolean
}

const NONE: readonly EventView[] = []

/** What is open in some channels; anew when an Event changes, and every ten seconds. */
export function useOpened(channels: readonly LiveChannel[]): Opened {
  const known = useRules(channels)
  const drawn = channels.map(({ eventsDrawn }) => eventsDrawn.value).join(' ')
  const ids = channels.map(({ id }) => id).join(' ')
  const beat = Math.floor(second.value / 10_000)
  return useMemo(() => {
    const open = channels.flatMap((channel) =>
      [...channel.events.values()]
        .filter(({ state }) => state === 'open')
        .map((event) => ({ channel, event })),
    )
    const isSilence = ({ id }: LiveChannel, ruleId: string): boolean =>
      known.get(id)?.get(ruleId)?.isSilence === true
    const byThing = Map.groupBy(open, ({ channel, event }) => `${channel.id} ${thingOf(event)}`)
    const sorted = new Map(
      [...byThing].map(([key, events]) => [
        key,
        events.map(({ event }) => event).toSorted((a, b) => rankOf(a) - rankOf(b)),
      ]),
    )
    return {
      open,
      standing: standingOf(open, isSilence, second.peek()),
      of: ({ id }, thingId) => sorted.get(`${id} ${thingId}`) ?? NONE,
      isSilence,
      titleOf: ({ id }, ruleId) => known.get(id)?.get(ruleId)?.title ?? ruleId,
      areRulesKnown: channels.every(({ id }) => known.has(id)),
      areHeard: channels.every(({ id }) =>
        [...(known.get(id)?.values() ?? [])].some((rule) => rule.isSilence),
      ),
    }
  }, [ids, drawn, beat, known])
}

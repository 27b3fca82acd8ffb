// The values that an Event is about, half an hour before and after it began.

import { useMemo } from 'preact/hooks'

import type { EventView } from '#src/client/view'
import { ruleIdOf } from '#console/people/events.ts'
import { limitsIn } from '#console/state/past/limits.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import type { RuleJson } from '#console/state/rule-form.ts'
import { jsonOfRule, readRule } from '#console/state/rules.ts'
import { textOf } from '#console/state/text.ts'
import { ValueChart } from '#console/charts/value-chart.tsx'
import { useFound } from '#console/parts/page.tsx'
import { beganAt, shadesOf } from './events.tsx'

const AROUND_MS = 30 * 60_000
const CHARTS_MAX = 3

interface EventChartsProps {
  readonly channel: LiveChannel
  readonly event: EventView
}

/** A chart for each number of the Thing that the rule of the Event limits, or the Event names. */
export function EventCharts({ channel, event }: EventChartsProps) {
  const rule = useRule(channel, ruleIdOf(event))
  const thingId = textOf(event.fields['thing_id'])
  const values = channel.things.get(thingId)?.attrs ?? {}
  const numbers = Object.keys(values).filter((name) => typeof values[name] === 'number')
  const wanted = useMemo(
    () =>
      numbers
        .map((attr) => ({ attr, limit: limitsIn(rule?.['when'], attr)[0] }))
        .filter(({ attr, limit }) => limit !== undefined || Object.hasOwn(event.attrs, attr))
        .slice(0, CHARTS_MAX),
    [rule, event.attrs, numbers.join('\n')],
  )
  const began = beganAt(channel, event)
  const shades = useMemo(() => shadesOf(channel, [event]), [channel, event, began])
  if (began === undefined || wanted.length === 0) return null
  return (
    <div class="charts wide">
      {wanted.map(({ attr, limit }) => (
        <ValueChart
          key={attr}
          channel={channel}
          thing={thingId}
          attr={attr}
          from={began - AROUND_MS}
          to={began + AROUND_MS}
          limit={limit}
          events={shades}
        />
      ))}
    </div>
  )
}

/** A rule for what it watches; undefined where it cannot be read, or is none. */
function useRule(channel: LiveChannel, ruleId: string): RuleJson | undefined {
  const { found } = useFound(
    (ended) => (ruleId === '' ? undefined : readRule(channel.id, ruleId, ended)),
    [channel, ruleId, channel.isCurrent.value],
  )
  return found && jsonOfRule(found)
}

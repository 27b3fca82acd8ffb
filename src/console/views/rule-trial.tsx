// What a rule would have done on the kept history.

import { useState } from 'preact/hooks'

import { UNIT_MS } from '#domain/runtime'
import type { RuleFiring } from '#src/client/bodies'
import { nowMs, second } from '#console/state/clock.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { hashOf } from '#console/state/route.ts'
import type { RuleJson } from '#console/state/rule-form.ts'
import { tryRule } from '#console/state/rules.ts'
import type { Trial as Tried } from '#console/state/rules.ts'
import { localTimes, moment, span as spanText, t } from '#console/words/words.ts'
import { Choice, Form } from '#console/parts/form.tsx'
import { Card, useSome } from '#console/parts/page.tsx'
import { Severity } from '#console/parts/severity.tsx'
import { Said } from '#console/parts/text.tsx'

const SPANS = { hour: UNIT_MS.h, day: UNIT_MS.d, week: 7 * UNIT_MS.d } as const
type Span = keyof typeof SPANS
const SHOWN = 50

interface TrialProps {
  readonly channel: LiveChannel
  readonly withRule: (work: (rule: RuleJson) => Promise<unknown>) => Promise<void>
}

interface Outcome {
  readonly sinceMs: number
  readonly untilMs: number
  readonly tried: Tried
}

export function Trial({ channel, withRule }: TrialProps) {
  const [span, setSpan] = useState<Span>('day')
  const [outcome, setOutcome] = useState<Outcome>()
  const attempt = (): Promise<void> => {
    setOutcome(undefined)
    return withRule(async (rule) => {
      const untilMs = nowMs()
      const sinceMs = untilMs - SPANS[span]
      setOutcome({ sinceMs, untilMs, tried: await tryRule(channel.id, rule, sinceMs) })
    })
  }
  return (
    <Card title={t('tryIt')}>
      <p>{t('tryText')}</p>
      <Form button={t('tryIt')} onSubmit={attempt}>
        <Choice
          label={t('since')}
          value={span}
          options={(['hour', 'day', 'week'] as const).map((name) => [name, t(name)] as const)}
          onValue={setSpan}
        />
      </Form>
      <div role="status">{outcome !== undefined && <Sum tried={outcome.tried} />}</div>
      {outcome !== undefined && outcome.tried.firings.length > 0 && (
        <Firings outcome={outcome} channel={channel} />
      )}
    </Card>
  )
}

const Sum = ({ tried: { firings, entries, complete } }: { readonly tried: Tried }) => (
  <>
    <p>
      {firings.length === 0
        ? t('noFirings', { entries })
        : t('firingsOf', { n: firings.length, entries })}
    </p>
    {!complete && <p class="hint">{t('tryNotWhole')}</p>}
  </>
)

interface FiringsProps {
  readonly outcome: Outcome
  readonly channel: LiveChannel
}

function Firings({ outcome, channel }: FiringsProps) {
  const { some, more } = useSome(outcome.tried.firings, SHOWN)
  return (
    <>
      <Strip outcome={outcome} />
      <ol class="updates">
        {some.map((firing) => (
          <Firing
            key={`${firing.thing_id} ${firing.fired_at}`}
            firing={firing}
            channelId={channel.id}
          />
        ))}
      </ol>
      {more}
    </>
  )
}

const STRIP_WIDTH = 1_000
const MARK_MIN = 4

/** A line of time with a mark for each firing, as long as it lasted. */
function Strip({ outcome: { sinceMs, untilMs, tried } }: { readonly outcome: Outcome }) {
  const at = (ms: number): number => (Math.max(0, ms - sinceMs) / (untilMs - sinceMs)) * STRIP_WIDTH
  const path = tried.firings
    .map(({ fired_at: from, cleared_at: to = untilMs }) => {
      const left = Math.min(at(from), STRIP_WIDTH - MARK_MIN).toFixed(1)
      const width = Math.max(MARK_MIN, at(to) - at(from)).toFixed(1)
      return `M${left} 0h${width}v20H${left}z`
    })
    .join('')
  const label = t('strip', { from: moment(sinceMs, second.peek()) })
  return (
    <svg
      class="strip"
      viewBox={`0 0 ${STRIP_WIDTH} 20`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path d={path} />
    </svg>
  )
}

interface FiringProps {
  readonly firing: RuleFiring
  readonly channelId: string
}

function Firing({ firing, channelId }: FiringProps) {
  const { thing_id: id, title, severity, fired_at: from, cleared_at: to } = firing
  const { reminded_at: reminded = [], escalated = [] } = firing
  return (
    <li>
      <time>{moment(from, second.value)}</time>
      <Severity severity={severity} />
      <strong>
        <Said text={localTimes(title, second.value)} />
      </strong>
      <a href={hashOf({ view: 'thing', channelId, id })}>{id}</a>
      <span class="news">
        {to === undefined ? t('stillFires') : t('lasted', { age: spanText(to - from) })}
      </span>
      {reminded.length > 0 && (
        <span class="news">
          {t('wouldRemind', {
            n: reminded.length,
            age: spanText((reminded[0] ?? from) - from),
          })}
        </span>
      )}
      {escalated.map(({ level, at }) => (
        <span class="news" key={level}>
          {t('wouldEscalate', { level, age: spanText(at - from) })}
        </span>
      ))}
    </li>
  )
}

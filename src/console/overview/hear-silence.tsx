// Without a rule about silence nothing tells that a Thing is gone. The overview offers one, from
// how often the Things that are seen report.

import { useState } from 'preact/hooks'

import { second } from '#console/state/clock.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { putRule } from '#console/state/rules.ts'
import { titleOf } from '#console/search/search.ts'
import { visible } from '#console/state/text.ts'
import { sentenceOf, span, t } from '#console/words/words.ts'
import { silenceFor, usualEveryMs } from './standing.ts'

interface HearSilenceProps {
  readonly channel: LiveChannel
  /** True when a rule watches for silence. */
  readonly isHeard: boolean
}

const RULE_ID = 'silence'

/** The Thing of those that are seen which reports least often, and how often that is. */
function slowestOf(channel: LiveChannel) {
  let slowest: { readonly id: string; readonly everyMs: number } | undefined
  for (const [id, { times }] of channel.allWatched) {
    const everyMs = usualEveryMs(times)
    if (everyMs !== undefined && everyMs > (slowest?.everyMs ?? 0)) slowest = { id, everyMs }
  }
  return slowest
}

export function HearSilence({ channel, isHeard }: HearSilenceProps) {
  const [failure, setFailure] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  void Math.floor(second.value / 10_000)
  if (isHeard) return null
  const slowest = slowestOf(channel)
  const thing = slowest && channel.things.get(slowest.id)
  if (slowest === undefined || thing === undefined) return null
  const silent = silenceFor(slowest.everyMs)
  const hear = async (): Promise<void> => {
    setBusy(true)
    const event = { title: '{thing.title} is silent', severity: 'high' }
    const rule = { title: t('silenceRule'), things: 'all', when: { silent }, event }
    await putRule(channel.id, RULE_ID, rule).catch(setFailure)
    setBusy(false)
  }
  return (
    <p class="offer">
      {t('noSilenceRule', { thing: visible(titleOf(thing)), every: span(slowest.everyMs) })}{' '}
      <button type="button" class="quiet" disabled={isBusy} onClick={() => void hear()}>
        {t('hearSilence', { silent })}
      </button>
      {failure !== undefined && (
        <span class="problem" role="alert">
          {sentenceOf(failure)}
        </span>
      )}
    </p>
  )
}

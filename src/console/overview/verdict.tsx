// The first line of an overview: whether anything is wrong, as of when the page knows it.

import { SEVERITIES } from '#domain/submission'
import { second } from '#console/state/clock.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { ask, asked } from '#console/state/route.ts'
import { knownAt } from '#console/state/session.ts'
import { moment, span, t } from '#console/words/words.ts'
import type { Opened } from './open-events.ts'
import { quietSince } from './standing.ts'
import type { Trouble } from './standing.ts'

export const TROUBLES: readonly Trouble[] = [...SEVERITIES, 'silent']

/** The oldest of the times of which the page knows the channels; undefined while all are live. */
export function knownAtOf(channels: readonly LiveChannel[]): number | undefined {
  const times = channels.flatMap((channel) => knownAt(channel) ?? [])
  return times.length === 0 ? undefined : Math.min(...times)
}

interface VerdictProps {
  readonly channels: readonly LiveChannel[]
  readonly opened: Opened
  /** True where its counts are no filters. */
  readonly isPlain?: boolean
}

export function Verdict({ channels, opened, isPlain }: VerdictProps) {
  const { counts, held } = opened.standing
  const at = knownAtOf(channels)
  if (Number.isNaN(at)) return <p class="verdict away">{t('loading')}</p>
  const chosen = asked.value['open'] ?? ''
  return (
    <div class={at === undefined ? 'verdict' : 'verdict away'} role="status">
      {at !== undefined && <span>{t('asOf', { time: moment(at, second.value) })}</span>}
      {counts.size === 0 ? (
        <Quiet channels={channels} opened={opened} isLive={at === undefined} />
      ) : (
        TROUBLES.filter((trouble) => counts.has(trouble)).map((trouble) => {
          const isChosen = chosen === trouble
          const face = (
            <>
              <strong>{counts.get(trouble)}</strong> {t(trouble)}
            </>
          )
          const name = `trouble ${trouble}`
          if (isPlain === true) {
            return (
              <span class={name} key={trouble}>
                {face}
              </span>
            )
          }
          return (
            <button
              type="button"
              key={trouble}
              class={name}
              aria-pressed={isChosen}
              onClick={() => ask({ open: isChosen ? '' : trouble })}
            >
              {face}
            </button>
          )
        })
      )}
      {held > 0 && <span class="of">{t('heldEvents', { n: held })}</span>}
    </div>
  )
}

/** How many Things there are, and for how long nothing has been open. */
function Quiet({ channels, opened, isLive }: VerdictProps & { readonly isLive: boolean }) {
  for (const { members } of channels) void members.value
  const things = channels.reduce((sum, channel) => sum + activeOf(channel), 0)
  if (things === 0) return <span>{t('nothingOpen')}</span>
  const since = quietSince(channels.flatMap(({ events }) => [...events.values()]))
  const isKnown = isLive && since !== undefined
  return (
    <>
      <span class="well">
        {opened.areHeard ? t('allReport', { n: things }) : t('countThings', { n: things })}
        {t('sentenceEnd')}
      </span>
      <span>
        {isKnown ? t('nothingOpenFor', { age: span(second.value - since) }) : t('nothingOpen')}
      </span>
    </>
  )
}

const activeOf = ({ things }: LiveChannel): number => {
  let count = 0
  for (const { state } of things.values()) if (state === 'active') count += 1
  return count
}

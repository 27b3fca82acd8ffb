// The first view of a channel, or of all channels: whether anything is wrong, what needs somebody,
// and then the Things.

import type { LiveChannel } from '#console/state/live-channel.ts'
import { BLANK_DRAFT } from '#console/state/drafts.ts'
import { ask, asked } from '#console/state/route.ts'
import { commandFor } from '#console/state/submissions.ts'
import { t } from '#console/words/words.ts'
import { Command } from '#console/parts/command.tsx'
import { Empty } from '#console/parts/form.tsx'
import { Attention } from './attention.tsx'
import { HearSilence } from './hear-silence.tsx'
import { useOpened } from './open-events.ts'
import type { Opened } from './open-events.ts'
import { useThings } from './rows.ts'
import type { Rows } from './rows.ts'
import { ThingsMap } from './things-map.tsx'
import { ThingsTable } from './things-table.tsx'
import { ThingsTiles } from './things-tiles.tsx'
import { Verdict } from './verdict.tsx'
import { Wishes, wished } from './wishes.tsx'
import type { Shape } from './wishes.tsx'

interface OverviewProps {
  /** One channel, or all of this browser. */
  readonly channels: readonly LiveChannel[]
}

export function Overview({ channels }: OverviewProps) {
  const wish = wished()
  const opened = useOpened(channels)
  const rows = useThings(channels, wish, opened)
  const isWall = asked.value['wall'] !== undefined
  const [only] = channels
  const isEmpty = rows.all === 0
  return (
    <div class="overview">
      <h1 class={isWall ? undefined : 'unseen'}>
        {isWall && channels.length === 1 ? only?.name.value : t('overview')}
      </h1>
      <Verdict channels={channels} opened={opened} />
      <Attention opened={opened} isUsed={!isWall} />
      {!isWall && channels.length === 1 && only !== undefined && opened.areRulesKnown && (
        <HearSilence channel={only} isHeard={opened.areHeard} />
      )}
      {!isEmpty && !isWall && <Wishes wish={wish} rows={rows} channels={channels} />}
      {isEmpty && channels.length === 1 && only !== undefined && <NoThings channel={only} />}
      {!isEmpty && rows.found === 0 && (
        <Empty title={t('noneFound')} text={t('noneFoundText')}>
          <button type="button" onClick={() => ask({ search: '', open: '' })}>
            {t('clearSearch')}
          </button>
        </Empty>
      )}
      {rows.found > 0 && <Things shape={wish.shape} rows={rows} opened={opened} />}
    </div>
  )
}

interface ThingsProps {
  readonly shape: Shape
  readonly rows: Rows
  readonly opened: Opened
}

function Things({ shape, rows, opened }: ThingsProps) {
  if (shape === 'tiles') return <ThingsTiles groups={rows.groups} opened={opened} />
  if (shape === 'map') return <ThingsMap groups={rows.groups} opened={opened} />
  return <ThingsTable groups={rows.groups} opened={opened} />
}

function NoThings({ channel }: { readonly channel: LiveChannel }) {
  if (!channel.isCurrent.value) return null
  const attrs = { temperature: 61.5, burning: true }
  return (
    <Empty title={t('noThings')} text={t('noThingsText')}>
      <Command
        text={commandFor(channel.id, 'thing', { ...BLANK_DRAFT, thingId: 'boiler-1', attrs })}
      />
    </Empty>
  )
}

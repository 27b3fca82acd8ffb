// Who got a Message or an Event: read when a person asks.

import { useState } from 'preact/hooks'

import type { DataOf } from '#src/client/bodies'
import { client } from '#console/state/gateway.ts'
import { readerOf } from '#console/state/history.ts'
import { sentenceOf, t } from '#console/words/words.ts'
import { Said } from './text.tsx'

type Found = DataOf<'/delivery/receipts'>

const STATE_WORDS = {
  acknowledged: 'receiptAcknowledged',
  pushed: 'receiptPushed',
  waiting: 'receiptWaiting',
  failed: 'receiptFailed',
  filtered: 'receiptFiltered',
  later: 'receiptLater',
} as const

interface ReceiptsProps {
  readonly channelId: string
  /** A Message or an Event: its newest entry. */
  readonly entityId: string
}

export function Receipts({ channelId, entityId }: ReceiptsProps) {
  const [found, setFound] = useState<Found>()
  const [failure, setFailure] = useState<string>()
  const read = (): void => {
    const body = { ...readerOf(channelId), entity_id: entityId }
    client
      .peek()
      .delivery.receipts(body)
      .then(setFound, (error: unknown) => setFailure(sentenceOf(error)))
  }
  return (
    <details class="receipts" onToggle={(event) => event.currentTarget.open && read()}>
      <summary>{t('whoGotIt')}</summary>
      {failure !== undefined && <p class="problem">{failure}</p>}
      {found?.subscribers.length === 0 && <p class="hint">{t('noDevices')}</p>}
      <ul>
        {found?.subscribers.map(({ subscriber_id: id, label, platform, state }) => (
          <li key={id}>
            <Said text={label ?? (platform === 'web' ? t('browser') : platform)} />{' '}
            <span class={`receipt ${state}`}>{t(STATE_WORDS[state])}</span>
          </li>
        ))}
      </ul>
    </details>
  )
}

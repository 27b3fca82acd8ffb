// The actions of a Message as buttons: an address to open, or a request that this browser sends.

import { useState } from 'preact/hooks'

import { ACTIONS_KEY, offeredActions } from '#src/schemas/fields/message-actions'
import type { HttpAction } from '#src/schemas/fields/message-actions'
import { isRecord } from '#domain/record'
import type { Json } from '#domain/submission'
import { canSendActions, sendByWorker } from '#console/state/action-request.ts'
import { visible } from '#console/state/text.ts'
import { t } from '#console/words/words.ts'
import { Said, hostOf } from './text.tsx'

export function Actions({ metadata }: { readonly metadata: Json | undefined }) {
  const actions = isRecord(metadata) ? offeredActions(metadata[ACTIONS_KEY]) : []
  if (actions.length === 0) return null
  return (
    <div class="actions">
      {actions.map((action, at) =>
        action.kind === 'http' ? (
          <SendButton key={at} action={action} />
        ) : (
          <a
            key={at}
            class="button"
            href={action.url}
            title={hostOf(action.url)}
            target="_blank"
            rel="noopener noreferrer nofollow"
          >
            <Said text={action.label} />
          </a>
        ),
      )}
    </div>
  )
}

/** A button that sends once at a time, and says what became of it. */
function SendButton({ action }: { readonly action: HttpAction }) {
  const [isBusy, setBusy] = useState(false)
  const [news, setNews] = useState<string>()
  const host = hostOf(action.url)
  const send = async (): Promise<void> => {
    if (!canSendActions()) return setNews(t('actionNeedsHttps'))
    setBusy(true)
    setNews(undefined)
    const { isSent, status } = await sendByWorker(action)
    setBusy(false)
    const failure =
      status === 0 ? t('actionFailed', { host }) : t('actionRefused', { host, status })
    setNews(isSent ? t('actionSent') : failure)
  }
  return (
    <>
      <button
        type="button"
        disabled={isBusy}
        title={`${action.method} ${host}`}
        onClick={() => void send()}
      >
        {visible(action.label)}
      </button>
      <span class="hint" role="status">
        {news}
      </span>
    </>
  )
}

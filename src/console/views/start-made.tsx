// What a person does with a channel that was made just now: send to it, and carry it to a phone.

import { useEffect, useState } from 'preact/hooks'

import { makeKey } from '#console/state/channels.ts'
import { BLANK_DRAFT } from '#console/state/drafts.ts'
import { client } from '#console/state/gateway.ts'
import { readerOf } from '#console/state/history.ts'
import { hashOf } from '#console/state/route.ts'
import { commandFor } from '#console/state/submissions.ts'
import { t } from '#console/words/words.ts'
import { Command } from '#console/parts/command.tsx'
import { Form } from '#console/parts/form.tsx'
import { Card } from '#console/parts/page.tsx'
import { Copy, Said } from '#console/parts/text.tsx'
import { Link } from './channel-keys.tsx'
import { Notify } from './notify.tsx'

export interface MadeProps {
  readonly channelId: string
  readonly name: string
  /** A secret. */
  readonly password: string
}

export function Made({ channelId, name, password }: MadeProps) {
  return (
    <div class="made">
      <header class="view">
        <h1>
          <Said text={t('madeTitle', { name })} />
        </h1>
        <a class="button primary" href={hashOf({ view: 'overview', channelId })}>
          {t('toOverview')}
        </a>
      </header>
      <div class="columns">
        <Card title={t('password')}>
          <p>{t('madeText')}</p>
          <pre class="command">{password}</pre>
          <div>
            <Copy text={password} />
          </div>
        </Card>
        <Try channelId={channelId} password={password} />
        <Link channelId={channelId} password={password} />
        <Notify channelId={channelId} />
      </div>
    </div>
  )
}

/** A button that sends, and the command that does: with a key of its own. */
function Try({ channelId, password }: Omit<MadeProps, 'name'>) {
  const [isSent, setSent] = useState(false)
  const [key, setKey] = useState<string>()
  useEffect(() => {
    makeKey(channelId, password, { label: 'curl', scopes: ['send'] }).then(setKey, () => undefined)
  }, [channelId, password])
  const send = async (): Promise<void> => {
    const test = { title: t('testTitle'), body: t('testBody') }
    await client.peek().message.send({ ...readerOf(channelId), ...test })
    setSent(true)
  }
  return (
    <Card title={t('tryTitle')}>
      <Form button={t('sendTest')} onSubmit={send}>
        <p role="status">
          {isSent && <a href={hashOf({ view: 'messages', channelId })}>{t('testSent')}</a>}
        </p>
      </Form>
      {key !== undefined && (
        <>
          <p>{t('curlKey')}</p>
          <Command
            text={commandFor(channelId, 'message', { ...BLANK_DRAFT, title: t('testTitle') }, key)}
            hasKey
          />
        </>
      )}
    </Card>
  )
}

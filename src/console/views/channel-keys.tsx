// The keys of a channel, and the link that carries one to another device.

import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'

import type { ListedKey } from '#src/client/bodies'
import { browserName, makeKey } from '#console/state/channels.ts'
import { BASE_URL, client } from '#console/state/gateway.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { hashOf } from '#console/state/route.ts'
import { dayText, t } from '#console/words/words.ts'
import { Field, Form } from '#console/parts/form.tsx'
import { QrCode } from '#console/parts/qr-code.tsx'
import { Sure } from '#console/parts/sure.tsx'
import { Copy, Said } from '#console/parts/text.tsx'

/** What only the password of a channel opens. */
export interface OwnerProps {
  readonly channel: LiveChannel
  /** A secret. */
  readonly password: string
}

export const Card = ({
  title,
  children,
}: {
  readonly title: string
  children: ComponentChildren
}) => (
  <section class="card">
    <h2>{title}</h2>
    {children}
  </section>
)

/** Counts the keys that this page made, so that the list shows them. */
const keysMade = signal(0)

/** A link with a key of its own, and its QR code: shown once, as the key is. */
export function Link({ channel, password }: OwnerProps) {
  const [link, setLink] = useState<string>()
  const [isReadOnly, setReadOnly] = useState(false)
  const make = async (): Promise<void> => {
    const scopes = isReadOnly ? (['read'] as const) : (['read', 'send'] as const)
    const label = `${t('linkOf')}, ${browserName()}`.slice(0, 128)
    const secret = await makeKey(channel.id, password, { label, scopes })
    keysMade.value += 1
    setLink(
      `${BASE_URL}/console/${hashOf({ view: 'open', channelId: channel.id, secret, token: '' })}`,
    )
  }
  return (
    <Card title={t('onPhone')}>
      <p>{t('onPhoneText')}</p>
      {link === undefined ? (
        <Form button={t('makeLink')} onSubmit={make}>
          <label class="check">
            <input
              type="checkbox"
              checked={isReadOnly}
              onChange={(event) => setReadOnly(event.currentTarget.checked)}
            />
            {t('readOnly')}
          </label>
        </Form>
      ) : (
        <>
          <QrCode text={link} label={t('qr')} />
          <pre class="command" tabIndex={0} role="region" aria-label={t('linkOf')}>
            {link}
          </pre>
          <div>
            <Copy text={link} />
          </div>
        </>
      )}
    </Card>
  )
}

const KEYS_SHOWN = 200

export function Keys({ channel, password }: OwnerProps) {
  const [keys, setKeys] = useState<readonly ListedKey[]>([])
  const [made, setMade] = useState<string>()
  const [label, setLabel] = useState('')
  const [scopes, setScopes] = useState({ read: true, send: true })
  const proof = { channel_id: channel.id, password }
  const list = async (): Promise<void> => {
    const page = await client.peek().key.list({ ...proof, limit: KEYS_SHOWN })
    setKeys(page.keys)
  }
  useEffect(() => void list().catch(() => {}), [channel, password, keysMade.value])
  const make = async (): Promise<void> => {
    const names = (['read', 'send'] as const).filter((name) => scopes[name])
    setMade(await makeKey(channel.id, password, { label, scopes: names }))
    setLabel('')
    await list()
  }
  return (
    <Card title={t('keys')}>
      <p>{t('keysText')}</p>
      {keys.length === 0 && <p class="hint">{t('noKeys')}</p>}
      <ul class="keys">
        {keys.map((key) => (
          <Key
            key={key.key_id}
            listed={key}
            onRevoke={async () => {
              await client.peek().key.revoke({ ...proof, key_id: key.key_id })
              await list()
            }}
          />
        ))}
      </ul>
      {made !== undefined && (
        <div role="status">
          <p>{t('keyOnce')}</p>
          <pre class="command">{made}</pre>
          <Copy text={made} />
        </div>
      )}
      <Form button={t('makeKey')} onSubmit={make}>
        <Field label={t('label')} value={label} onValue={setLabel} input={{ maxLength: 128 }} />
        <fieldset>
          <legend>{t('scopes')}</legend>
          <div class="models">
            {(['read', 'send'] as const).map((name) => (
              <label class="check" key={name}>
                <input
                  type="checkbox"
                  checked={scopes[name]}
                  onChange={(event) =>
                    setScopes({ ...scopes, [name]: event.currentTarget.checked })
                  }
                />
                {t(name === 'read' ? 'scopeRead' : 'scopeSend')}
              </label>
            ))}
          </div>
        </fieldset>
      </Form>
    </Card>
  )
}

interface KeyProps {
  readonly listed: ListedKey
  readonly onRevoke: () => Promise<void>
}

function Key({ listed, onRevoke }: KeyProps) {
  const { label, scopes, last_used_on: day } = listed
  const name = label === '' ? t('noLabel') : label
  return (
    <li>
      <strong>
        <Said text={name} />
      </strong>
      <span class="hint">
        {scopes.map((scope) => t(scope === 'read' ? 'scopeRead' : 'scopeSend')).join(', ')} ·{' '}
        {day === undefined ? t('neverUsed') : t('lastUsed', { day: dayText(day) })}
      </span>
      <Sure
        button={t('revoke')}
        question={t('revokeSure', { label: name })}
        onSure={onRevoke}
        isQuiet
      />
    </li>
  )
}

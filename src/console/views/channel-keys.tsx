// The keys of a channel, and the link that carries one to another device.

import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'

import { UNIT_MS } from '#domain/runtime'
import type { KeyScope, ListedKey } from '#src/client/bodies'
import { browserName, makeKey } from '#console/state/channels.ts'
import { nowMs, second } from '#console/state/clock.ts'
import { BASE_URL, client } from '#console/state/gateway.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { hashOf } from '#console/state/route.ts'
import { connection } from '#console/state/session.ts'
import { dayText, moment, span, t } from '#console/words/words.ts'
import { Check, Choice, Chosen, Field, Form } from '#console/parts/form.tsx'
import { Card, Failure, useFound } from '#console/parts/page.tsx'
import { QrCode } from '#console/parts/qr-code.tsx'
import { Sure } from '#console/parts/sure.tsx'
import { Code, Copy, Said } from '#console/parts/text.tsx'

/** What only the password of a channel opens. */
export interface OwnerProps {
  readonly channel: LiveChannel
  /** A secret. */
  readonly password: string
}

/** What the gateway answers to a read, again once it is back, or else why there is nothing. */
export function useRead<Found>(read: () => Promise<Found>, inputs: readonly unknown[]) {
  const isOpen = connection.value.kind === 'open'
  const { found, failure, setFound } = useFound(read, [...inputs, isOpen])
  const again = (): Promise<void> => read().then(setFound)
  const problem = found === undefined && failure !== undefined && <Failure error={failure} />
  return { found, again, problem }
}

/** Counts the keys that this page made, so that the list shows them. */
const keysMade = signal(0)

const ENDS_DAYS = [1, 7, 30, 90] as const

interface LinkProps {
  readonly channelId: string
  /** A secret. */
  readonly password: string
}

/** A link with a key of its own, and its QR code: shown once, as the key is. */
export function Link({ channelId, password }: LinkProps) {
  const [link, setLink] = useState<string>()
  const [may, setMay] = useState<'read' | 'both'>('both')
  const [days, setDays] = useState('')
  const [isWall, setWall] = useState(false)
  const make = async (): Promise<void> => {
    const scopes = may === 'read' || isWall ? (['read'] as const) : (['read', 'send'] as const)
    const label = `${t('linkOf')}, ${browserName()}`.slice(0, 128)
    const expiresAt = days === '' ? undefined : nowMs() + Number(days) * UNIT_MS.d
    const secret = await makeKey(channelId, password, { label, scopes, expiresAt })
    keysMade.value += 1
    const place = { view: 'open', channelId, secret, token: '' } as const
    setLink(`${BASE_URL}/console/${hashOf(place, isWall ? { wall: 'on' } : {})}`)
  }
  return (
    <Card title={t('share')}>
      <p>{t('shareText')}</p>
      {link === undefined ? (
        <Form button={t('makeLink')} onSubmit={make}>
          <Choice
            label={t('shareMay')}
            value={isWall ? 'read' : may}
            options={[
              ['both', t('shareBoth')],
              ['read', t('shareRead')],
            ]}
            onValue={setMay}
          />
          <Choice
            label={t('shareEnds')}
            value={days}
            options={[
              ['', t('endsNever')],
              ...ENDS_DAYS.map((n): [string, string] => [
                String(n),
                t('endsIn', { age: span(n * UNIT_MS.d) }),
              ]),
            ]}
            onValue={setDays}
          />
          <Check label={t('shareWall')} isChecked={isWall} onChecked={setWall} />
        </Form>
      ) : (
        <>
          <QrCode text={link} label={t('qr')} />
          <Code text={link} label={t('linkOf')} />
          <div class="actions">
            <Copy text={link} />
            <button type="button" class="quiet" onClick={() => setLink(undefined)}>
              {t('anotherLink')}
            </button>
          </div>
        </>
      )}
    </Card>
  )
}

const KEYS_SHOWN = 200
const SCOPES = ['read', 'send'] as const
const scopeText = (scope: KeyScope): string => t(scope === 'read' ? 'scopeRead' : 'scopeSend')

export function Keys({ channel, password }: OwnerProps) {
  const [made, setMade] = useState<string>()
  const [label, setLabel] = useState('')
  const [scopes, setScopes] = useState<readonly KeyScope[]>(SCOPES)
  const proof = { channel_id: channel.id, password }
  const read = () => client.peek().key.list({ ...proof, limit: KEYS_SHOWN })
  const { found, again, problem } = useRead(read, [channel, password, keysMade.value])
  const make = async (): Promise<void> => {
    setMade(await makeKey(channel.id, password, { label, scopes }))
    setLabel('')
    await again()
  }
  return (
    <Card title={t('keys')}>
      <p>{t('keysText')}</p>
      {problem}
      {found?.keys.length === 0 && <p class="hint">{t('noKeys')}</p>}
      <ul class="keys">
        {found?.keys.map((key) => (
          <Key
            key={key.key_id}
            listed={key}
            onRevoke={async () => {
              await client.peek().key.revoke({ ...proof, key_id: key.key_id })
              await again()
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
          <Chosen names={SCOPES} chosen={scopes} textOf={scopeText} onChosen={setScopes} />
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
  const { label, scopes, last_used_on: day, expires_at: ends } = listed
  const name = label === '' ? t('noLabel') : label
  return (
    <li>
      <strong>
        <Said text={name} />
      </strong>
      <span class="hint">
        {scopes.map(scopeText).join(', ')} ·{' '}
        {day === undefined ? t('neverUsed') : t('lastUsed', { day: dayText(day) })}
        {ends !== undefined && ` · ${t('expiresAt', { time: moment(ends, second.peek()) })}`}
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

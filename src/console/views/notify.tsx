// Notifications of a channel on this device.

import { useEffect, useState } from 'preact/hooks'

import { notifyHere, pushOffer, stopNotifying } from '#console/notifications/subscribing.ts'
import type { PushOffer } from '#console/notifications/subscribing.ts'
import { pushed } from '#console/state/saved.ts'
import { t } from '#console/words/words.ts'
import { Form } from '#console/parts/form.tsx'
import { Card, Problem } from '#console/parts/page.tsx'
import { NotifyPreferences } from './notify-preferences.tsx'

export function Notify({ channelId }: { readonly channelId: string }) {
  const [offer, setOffer] = useState<PushOffer>({ kind: 'none' })
  const [isRefused, setRefused] = useState(false)
  useEffect(() => {
    pushOffer().then(setOffer, () => {})
  }, [])
  if (offer.kind === 'none') return null
  if (offer.kind !== 'key') {
    const isApple = offer.kind === 'home-screen'
    return (
      <Card title={t('notifications')}>
        <p>{t(isApple ? 'notifyHomeScreen' : 'notifyInsecure')}</p>
      </Card>
    )
  }
  const { key } = offer
  const isOn = pushed.value.channels.includes(channelId)
  const change = async (): Promise<void> => {
    if (isOn) await stopNotifying(channelId)
    else setRefused(!(await notifyHere(channelId, key)))
  }
  return (
    <Card title={t('notifications')}>
      <p>{t(isOn ? 'notifiedText' : 'notifyText')}</p>
      <Form button={t(isOn ? 'notifyStop' : 'notifyHere')} onSubmit={change}>
        <Problem text={isRefused ? t('notifyRefused') : undefined} />
      </Form>
      {isOn && <NotifyPreferences channelId={channelId} />}
    </Card>
  )
}

// Notifications of a channel on this device.

import { useEffect, useState } from 'preact/hooks'

import { notifyHere, pushKey, stopNotifying } from '#console/state/notifications.ts'
import { pushed } from '#console/state/saved.ts'
import { t } from '#console/words/words.ts'
import { Form } from '#console/parts/form.tsx'
import { Card } from './channel-keys.tsx'

export function Notify({ channelId }: { readonly channelId: string }) {
  const [key, setKey] = useState<string>()
  const [isRefused, setRefused] = useState(false)
  useEffect(() => {
    pushKey().then(setKey, () => {})
  }, [])
  if (key === undefined) return null
  const isOn = pushed.value.channels.includes(channelId)
  const change = async (): Promise<void> => {
    if (isOn) await stopNotifying(channelId)
    else setRefused(!(await notifyHere(channelId, key)))
  }
  return (
    <Card title={t('notifications')}>
      <p>{t(isOn ? 'notifiedText' : 'notifyText')}</p>
      <Form button={t(isOn ? 'notifyStop' : 'notifyHere')} onSubmit={change}>
        {isRefused && (
          <p class="problem" role="alert">
            {t('notifyRefused')}
          </p>
        )}
      </Form>
    </Card>
  )
}

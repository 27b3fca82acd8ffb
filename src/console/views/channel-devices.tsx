// The devices that follow a channel.

import { second } from '#console/state/clock.ts'
import { listSubscribers, removeSubscriber } from '#console/state/subscribers.ts'
import type { KnownSubscriber } from '#console/state/subscribers.ts'
import { dayText, moment, t } from '#console/words/words.ts'
import { Card } from '#console/parts/page.tsx'
import { Sure } from '#console/parts/sure.tsx'
import { useRead } from './channel-keys.tsx'
import type { OwnerProps } from './channel-keys.tsx'

export function Devices({ channel, password }: OwnerProps) {
  const proof = { channel_id: channel.id, password }
  const { found, again, problem } = useRead(() => listSubscribers(proof), [channel, password])
  return (
    <Card title={t('subscribers')}>
      <p>{t('devicesText')}</p>
      {problem}
      {found?.length === 0 && <p class="hint">{t('noDevices')}</p>}
      <ul class="keys">
        {found?.map((device) => (
          <Device
            key={device.subscriber_id}
            device={device}
            onRemove={() => removeSubscriber(proof, device).then(again)}
          />
        ))}
      </ul>
    </Card>
  )
}

const PLATFORMS: Readonly<Record<string, string>> = {
  ios: 'iPhone',
  ipados: 'iPad',
  macos: 'Mac',
  watchos: 'Apple Watch',
  android: 'Android',
  windows: 'Windows',
  linux: 'Linux',
}
const ROUTES: Readonly<Record<string, string>> = { webpush: 'Web Push', apns: 'APNs', fcm: 'FCM' }

interface DeviceProps {
  readonly device: KnownSubscriber
  readonly onRemove: () => Promise<void>
}

function Device({ device, onRemove }: DeviceProps) {
  const { platform, channel_type: route, subscribed_at: since, last_seen_on: day, ownKey } = device
  const name = PLATFORMS[platform] ?? t(platform === 'web' ? 'browser' : 'otherDevice')
  return (
    <li>
      <strong>
        {name} {ownKey !== undefined && <span class="tag">{t('thisBrowser')}</span>}
      </strong>
      <span class="hint">
        {ROUTES[route] ?? t('ownConnection')} ·{' '}
        {t('subscribedAt', { time: moment(since, second.peek()) })} ·{' '}
        {t('lastSeen', { day: dayText(day) })}
      </span>
      <Sure button={t('removeDevice')} question={t('removeDeviceSure')} onSure={onRemove} isQuiet />
    </li>
  )
}

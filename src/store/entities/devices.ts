import type { ChannelType } from '#domain/device'
import type { Platform } from '#domain/push/providers'
import type { DeviceId } from '#domain/identity'
import type { ColumnTypes, Numbered } from '#src/store/dialect'
import { tableOf } from './table.ts'

export type DeviceRow = {
  readonly deviceId: DeviceId
  readonly platform: Platform
  readonly channelType: ChannelType
  readonly providerToken: string | null
  readonly createdAt: number
  /** Sessions that the device has begun; the newest has this number. */
  readonly sessions: number
  /**
   * The day on which it last had a session or a pull, or lost a subscription; null before its first
   * subscription. (idle.ts)
   */
  readonly seenAt: number | null
  /** Grows with each change of the route. */
  readonly routeRevision: number
}

export const deviceEntity = ({ serial, integer, text, indexesLongText }: ColumnTypes) =>
  tableOf<DeviceRow & Numbered>({
    name: 'devices',
    columns: {
      id: serial,
      deviceId: { ...text(64), name: 'device_id' },
      platform: text(16),
      channelType: { ...text(16), name: 'channel_type' },
      providerToken: { ...text(4096), name: 'provider_token', nullable: true },
      createdAt: { ...integer, name: 'created_at' },
      sessions: { ...integer, default: 0 },
      seenAt: { ...integer, name: 'seen_at', nullable: true },
      routeRevision: { ...integer, name: 'route_revision', default: 0 },
    },
    indices: [
      { name: 'devices_by_seen_at', columns: ['seenAt', 'createdAt'] },
      { name: 'devices_by_device_id', columns: ['deviceId'], unique: true },
      {
        name: 'devices_by_provider_token',
        columns: ['providerToken', 'platform'],
        synchronize: indexesLongText,
      },
    ],
  })

export type SubscriptionRow = {
  readonly channel: number
  readonly device: number
  readonly sinceSeq: number
  readonly ackedSeq: number
  /** JSON array of single acknowledged seqs behind ackedSeq, ascending. */
  readonly ackedAhead: string
  readonly createdAt: number
}

export const subscriptionEntity = ({ integer, document }: ColumnTypes) =>
  tableOf<SubscriptionRow>({
    name: 'subscriptions',
    columns: {
      channel: { ...integer, primary: true },
      device: { ...integer, primary: true },
      sinceSeq: { ...integer, name: 'since_seq' },
      ackedSeq: { ...integer, name: 'acked_seq' },
      ackedAhead: { ...document, name: 'acked_ahead' },
      createdAt: { ...integer, name: 'created_at' },
    },
    indices: [{ name: 'subscriptions_by_device', columns: ['device'] }],
  })

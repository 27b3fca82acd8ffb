import type { ChannelType } from '#domain/device'
import type { Platform } from '#domain/push/providers'
import type { DeviceId } from '#domain/identity'
import type { ColumnTypes } from '#src/store/dialect'
import { key, orNull, tableOf, withDefault } from './table.ts'
import type { RowOf } from './table.ts'

const byToken = { name: 'devices_by_provider_token', columns: ['providerToken', 'platform'] }

export const deviceEntity = ({ serial, integer, text, indexedCharacters }: ColumnTypes) =>
  tableOf({
    name: 'devices',
    columns: {
      id: serial,
      deviceId: text<DeviceId>(64),
      platform: text<Platform>(16),
      channelType: text<ChannelType>(16),
      providerToken: orNull(text(4096)),
      createdAt: integer,
      /** Sessions that the device has begun; the newest has this number. */
      sessions: withDefault(integer, 0),
      /**
       * The day on which it last had a session or a pull, or lost a subscription; null before its
       * first subscription. (idle.ts)
       */
      seenAt: orNull(integer),
      /** Grows with each change of the route. */
      routeRevision: withDefault(integer, 0),
      /** How the owners of its channels call it; null for a device without a name. */
      label: orNull(text(64)),
    },
    indices: [
      { name: 'devices_by_seen_at', columns: ['seenAt', 'createdAt'] },
      { name: 'devices_by_device_id', columns: ['deviceId'], unique: true },
      ...(indexedCharacters === undefined ? [byToken] : []),
    ],
    added:
      indexedCharacters === undefined
        ? undefined
        : {
            name: byToken.name,
            clauses: `ADD KEY ${byToken.name} (provider_token(${indexedCharacters}), platform)`,
          },
  })

export type DeviceRow = RowOf<typeof deviceEntity>

export const subscriptionEntity = ({ integer, document }: ColumnTypes) =>
  tableOf({
    name: 'subscriptions',
    columns: {
      channel: key(integer),
      device: key(integer),
      sinceSeq: integer,
      ackedSeq: integer,
      /** JSON array of single acknowledged seqs behind ackedSeq, ascending. */
      ackedAhead: document,
      createdAt: integer,
      /** JSON of the preferences of pushes; null for none. (domain/push/preferences.ts) */
      notify: orNull(document),
    },
    indices: [{ name: 'subscriptions_by_device', columns: ['device'] }],
  })

export type SubscriptionRow = RowOf<typeof subscriptionEntity>

// Locks the rows of channels and devices under which writers meet.

import type { ChannelId, DeviceId } from '#domain/identity'
import type { ChannelRow } from '#src/store/entities/channels'
import type { DeviceRow } from '#src/store/entities/devices'
import type { Numbered } from '#src/store/dialect'
import type { Executor } from '#src/store/jobs/executor'

type LockedChannel = Numbered & Pick<ChannelRow, 'name' | 'passwordHash' | 'keysHash' | 'keysEpoch'>

/** Locks a channel; returns undefined when there is none, or a deleted one. */
export const lockedChannel = (
  executor: Executor,
  channelId: ChannelId,
): Promise<LockedChannel | undefined> =>
  executor.first<LockedChannel>(
    `SELECT id, name, password_hash AS passwordHash, keys_hash AS keysHash, keys_epoch AS keysEpoch
      FROM channels WHERE channel_id = ? AND is_deleted = 0${executor.dialect.forUpdate}`,
    [channelId],
  )

type LockedDevice = Numbered & Pick<DeviceRow, 'channelType' | 'sessions'>

/** Locks a device; returns undefined when there is none. */
export const lockedDevice = (
  executor: Executor,
  deviceId: DeviceId,
): Promise<LockedDevice | undefined> =>
  executor.first<LockedDevice>(
    `SELECT id, channel_type AS channelType, sessions
      FROM devices WHERE device_id = ?${executor.dialect.forUpdate}`,
    [deviceId],
  )

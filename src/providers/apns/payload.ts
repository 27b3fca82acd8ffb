// Makes Apple's notification for a push. (decisions.md 11)

import { Notification, Priority, PushType } from 'apns2'
import type { NotificationOptions } from 'apns2'

import type { Push } from '#domain/push'
import type { Severity } from '#domain/submission'
import { contentWithin } from '#src/providers/content'
import type { Content } from '#src/providers/content'

/** Specification: Severity mapping. */
const INTERRUPTION: Readonly<Record<Severity, string>> = {
  critical: 'critical',
  high: 'time-sensitive',
  normal: 'active',
  low: 'passive',
}

const contentFor = contentWithin((content, push) =>
  notificationWith(push, '', content).buildApnsOptions(),
)

/** Returns the whole entry or, if that is too large, a notification that makes the app fetch it. */
export const notificationOf = (push: Push, topic: string): Notification =>
  notificationWith(push, topic, contentFor(push))

function notificationWith(push: Push, topic: string, content: Content): Notification {
  const { title, body, severity, data } = content
  const sound = soundOf(severity)
  return new Notification(push.route.token, {
    type: PushType.alert,
    topic,
    alert: { title, body },
    ...(sound !== undefined && { sound }),
    threadId: push.entry.channelId,
    mutableContent: true,
    priority: severity === 'low' ? Priority.throttled : Priority.immediate,
    expiration: Math.floor(push.expiresAt / 1000),
    // A Message has an id of its own, so a repeated push replaces the first on the device.
    collapseId: push.entry.entityId,
    aps: { 'interruption-level': INTERRUPTION[severity] },
    data,
  })
}

/** Passive pushes make no sound; critical ones sound even on a muted device. */
function soundOf(severity: Severity): NotificationOptions['sound'] {
  if (severity === 'low') return undefined
  return severity === 'critical' ? { critical: 1, name: 'default', volume: 1 } : 'default'
}

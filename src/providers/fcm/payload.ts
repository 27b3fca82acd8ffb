// Makes Firebase's message for a push to Android: data alone, so that the app decides what to show.
// (decisions.md 11)

import type { TokenMessage } from 'firebase-admin/messaging'

import type { Push } from '#domain/push'
import type { Severity } from '#domain/submission'
import { contentWithin } from '#src/providers/content'

/** Specification: Severity mapping. */
const PRIORITY: Readonly<Record<Severity, 'high' | 'normal'>> = {
  critical: 'high',
  high: 'high',
  normal: 'high',
  low: 'normal',
}

/** Firebase keeps a message for four weeks at most. */
const TTL_MS_MAX = 28 * 86_400_000

const contentFor = contentWithin(({ data }) => data)

/** Returns the whole entry or, if that is too large, a message that makes the app fetch it. */
export function messageOf(push: Push, nowMs: number): TokenMessage {
  const { data, severity } = contentFor(push)
  const ttl = Math.min(TTL_MS_MAX, Math.max(0, push.expiresAt - nowMs))
  return {
    token: push.route.token,
    data: { ...data },
    android: { priority: PRIORITY[severity], ttl: Math.floor(ttl / 1000) * 1000 },
  }
}

// Makes the content and the headers of a push. The JSON is one that a browser without a service
// worker shows too (Declarative Web Push). docs/providers.md has its form.

import { hash } from 'node:crypto'

import type { Push } from '#domain/push'
import type { Severity } from '#domain/submission'
import { contentWithin, loudnessOf, wakeUpOf } from '#src/providers/content'
import type { Content } from '#src/providers/content'
import { CLEARTEXT_BYTES_MAX } from './encryption.ts'

/** Specification: Severity mapping. (RFC 8030, 5.3) */
const URGENCY: Readonly<Record<Severity, string>> = {
  critical: 'high',
  high: 'high',
  normal: 'normal',
  low: 'low',
}

/** Services keep a push for four weeks at least, and some refuse a longer time. */
const TTL_S_MAX = 28 * 86_400
/** 24 bytes in base64url are the 32 characters that a Topic may have. */
const TOPIC_BYTES = 24

export interface Notice {
  readonly cleartext: Buffer
  readonly urgency: string
  /** A later push of the same topic takes the place of one that waits. */
  readonly topic: string
  readonly isWakeUp: boolean
}

export interface Notices {
  /** Returns the whole entry or, if that is too large, a notice that makes the app fetch it. */
  whole(push: Push): Notice
  /** Returns the notice that makes the app fetch the entry. */
  wakeUp(push: Push): Notice
}

/** Returns the maker of notices. `baseUrl`: the address at which people open the gateway, or ''. */
export function noticesFor(baseUrl: string): Notices {
  const documentFor = (content: Content, push: Push): object => documentOf(content, push, baseUrl)
  const contentFor = contentWithin(documentFor, CLEARTEXT_BYTES_MAX)
  // Of a content there are two notices: one with a sound, and one for devices that want it quiet.
  const made = { loud: new WeakMap<Content, Notice>(), passive: new WeakMap<Content, Notice>() }
  const noticeOf = (content: Content, push: Push): Notice => {
    const { channelId, model, entityId } = push.entry
    const topic = hash('sha256', `${channelId} ${model} ${entityId}`, 'buffer')
    return {
      cleartext: Buffer.from(JSON.stringify(documentFor(content, push))),
      urgency: URGENCY[loudnessOf(push, content)],
      topic: topic.subarray(0, TOPIC_BYTES).toString('base64url'),
      isWakeUp: 'wakeup' in content.data,
    }
  }
  return {
    whole: (push) => {
      const content = contentFor(push)
      const notices = push.isPassive ? made.passive : made.loud
      const earlier = notices.get(content)
      if (earlier !== undefined) return earlier
      const notice = noticeOf(content, push)
      notices.set(content, notice)
      return notice
    },
    wakeUp: (push) => noticeOf(wakeUpOf(push), push),
  }
}

/** Returns the whole seconds for which the push service keeps a push. */
export const ttlOf = ({ expiresAt }: Pick<Push, 'expiresAt'>, nowMs: number): number =>
  Math.min(TTL_S_MAX, Math.max(0, Math.floor((expiresAt - nowMs) / 1000)))

function documentOf(content: Content, push: Push, baseUrl: string): object {
  const { channelId, model, entityId, acceptedAt } = push.entry
  const { title: _title, body: _body, ...data } = content.data
  const view = model === 'message' ? 'messages' : `${model}/${encodeURIComponent(entityId)}`
  return {
    web_push: 8030,
    notification: {
      title: content.title,
      body: content.body,
      navigate: `${baseUrl}/console/#/${channelId}/${view}`,
      tag: `${channelId}/${model}/${entityId}`,
      timestamp: acceptedAt,
      silent: loudnessOf(push, content) === 'low',
      data,
    },
  }
}

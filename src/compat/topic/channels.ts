// The channels that a subscriber of the topic style names: one key, or several with commas.

import type { ChannelInfo } from '#domain/channel'
import { fault, isFault } from '#domain/fault'
import type { FaultCode } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { Acceptance } from '#src/acceptance/acceptance'
import type { Caller } from '#src/acceptance/caller'
import type { OpenedChannel } from '#src/acceptance/channels/channels'
import { keysIn, maskedKey, readKey } from '#src/compat/key'
import type { Request } from '#src/ingress/request'
import { fieldsOf } from '#src/compat/sending'

/** One channel, under the name that subscribers see. */
export interface Topic {
  readonly name: string
  /** A secret. */
  readonly key: string
  readonly info: ChannelInfo
  /** Unix milliseconds at which the key expires; 0 for never. */
  readonly expiresAt: number
}

export const TOPICS_MAX = 50

/**
 * Opens every channel, in their order and each once. A single wrong key refuses all of them; each
 * counts in the password budget by itself.
 */
export async function openTopics(
  acceptance: Acceptance,
  request: Request,
): Promise<Answer<readonly Topic[]>> {
  const keys = keysIn(request.parameters['topic'] ?? '')
  if (keys.length > TOPICS_MAX) {
    const detail = `topic must name at most ${TOPICS_MAX}`
    return fault('validation_failed', { field: 'topic', detail })
  }
  const topics = new Map<ChannelId, Topic>()
  for (const [index, key] of keys.entries()) {
    const caller = index === 0 ? request : acceptance.callerCheck.again(request)
    const opened = await openTopic(acceptance, key, caller)
    if (isFault(opened)) return opened
    const { info, key: by } = opened
    const topic = { name: nameOf(key), key, info, expiresAt: by?.expiresAt ?? 0 }
    if (!topics.has(info.channelId)) topics.set(info.channelId, topic)
  }
  return [...topics.values()]
}

/** Tells whether the keys of topics open their channels at a later time. */
export async function stillOpen(
  acceptance: Acceptance,
  topics: readonly Topic[],
  receivedAtMs: number,
): Promise<'yes' | 'no' | 'unknown'> {
  for (const { key, info } of topics) {
    const opened = await openTopic(acceptance, key, { receivedAtMs })
    if (isFault(opened)) return REFUSALS.has(opened.code) ? 'no' : 'unknown'
    if (opened.info.channelId !== info.channelId) return 'no'
  }
  return 'yes'
}

const REFUSALS: ReadonlySet<FaultCode> = new Set(['channel_not_found', 'key_expired', 'key_scope'])

async function openTopic(
  acceptance: Acceptance,
  key: string,
  caller: Caller,
): Promise<Answer<OpenedChannel>> {
  const fields = fieldsOf(key)
  if (isFault(fields)) return caller.attempt?.end() ?? fields
  return acceptance.channels.open(fields, caller)
}

/** Clients tell their topics apart by this name; a password stands in none. */
const nameOf = (key: string): string => {
  const read = readKey(key)
  return read.kind === 'alias' ? read.alias : maskedKey(key)
}

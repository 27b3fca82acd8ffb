// Messages that this browser has scheduled: the gateway lists none before its time.

import { client, codeOf } from './gateway.ts'
import { readerOf } from './history.ts'
import { scheduled } from './saved.ts'
import type { ScheduledMessage } from './saved.ts'

const KEPT_MAX = 200

/** Keeps a Message that waits for its time, the earliest first. */
export function keepScheduled(message: ScheduledMessage): void {
  const others = scheduled.value.filter(({ opId }) => opId !== message.opId)
  scheduled.value = [...others, message].toSorted((a, b) => a.at - b.at).slice(-KEPT_MAX)
}

/** The Messages of a channel that wait at a time. */
export const waitingAt = (channelId: string, presentMs: number): readonly ScheduledMessage[] =>
  scheduled.value.filter((message) => message.channelId === channelId && message.at > presentMs)

/** Forgets the Messages whose time has come, and the one that is named. */
export function forgetScheduled(presentMs: number, goneId?: string): void {
  const left = scheduled.value.filter(({ opId, at }) => opId !== goneId && at > presentMs)
  if (left.length < scheduled.value.length) scheduled.value = left
}

/** Takes a Message back. Throws what the gateway answers, as that it was sent already. */
export async function cancelScheduled(
  { channelId, opId }: ScheduledMessage,
  presentMs: number,
): Promise<void> {
  try {
    await client.peek().message.cancel({ ...readerOf(channelId), op_id: opId })
    forgetScheduled(presentMs, opId)
  } catch (error) {
    if (codeOf(error) === 'message_already_sent') forgetScheduled(presentMs, opId)
    throw error
  }
}

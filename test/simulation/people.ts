// People: Events that ask for them, and those who acknowledge some of these.

import { isFault } from '#domain/fault'
import type { Ask, Told } from './asking.ts'
import { errorOf } from './asking.ts'
import type { Channel, Clients } from './clients.ts'
import type { Observations, Sent } from './observations.ts'
import type { VirtualTime } from './virtual-time.ts'

/** Seconds from the first entry to each level. */
export const LEVEL_SECONDS = [2, 5] as const

/** What such an Event says about its reminders. */
export const ASKING = {
  remind_every: '1m',
  escalate: LEVEL_SECONDS.map((after, index) => ({ after: `${after}s`, level: index + 1 })),
}
/** The shortest snooze there is, in milliseconds. */
export const SNOOZE_MS = 60_000

/** The id of an Event that asks for people. */
export const eventIdOf = ({ token }: Pick<Sent, 'token'>): string => `asking-${token}`

export interface PeopleParts {
  readonly time: VirtualTime
  readonly observations: Observations
  readonly ask: Ask
}

/** Has somebody acknowledge two thirds of the Events that ask for people; a third snoozes them. */
export function acknowledgeLater(
  { time, observations, ask }: PeopleParts,
  sent: Sent,
  channel: Channel,
): void {
  const kind = sent.token % 3
  if (!sent.isAsking || kind === 0) return
  time.after(1_000 * (sent.token % 7), () => {
    const snooze = kind === 1 ? { snooze: `${SNOOZE_MS / 1_000}s` } : {}
    void acknowledge(ask, sent, { ...channel, ...snooze }).then((answer) => {
      const isAccepted = answer !== 'none' && 'value' in answer
      observations.note(`token ${sent.token} is acknowledged: ${errorOf(answer)}`)
      if (isAccepted)
        observations.acknowledged.set(answer.value, {
          channelId: channel.id,
          isSnoozed: kind === 1,
        })
    })
  })
}

/** Has somebody acknowledge every Event, so that nobody is reminded any more. */
export async function acknowledgeAll({ sent }: Observations, clients: Clients): Promise<void> {
  for (const channel of clients.channels.filter(({ isDeleted }) => !isDeleted)) {
    const { id } = channel
    const password = await clients.opening(channel)
    const asking = sent.filter(({ isAsking, channelId }) => isAsking && channelId === id)
    await Promise.all(asking.map((one) => acknowledge(clients.ask, one, { id, password })))
  }
}

function acknowledge(
  ask: Ask,
  sent: Sent,
  { id, password, snooze }: Pick<Channel, 'id' | 'password'> & { readonly snooze?: string },
): Promise<Told<string>> {
  const fields = { channel_id: id, password, event_id: eventIdOf(sent), ...(snooze && { snooze }) }
  return ask(async ({ acceptance: { submissions } }, caller) => {
    const body = { ...fields, event_time: caller.receivedAtMs }
    const accepted = await submissions.submit(
      { model: 'event', action: 'acknowledge' },
      body,
      caller,
    )
    return isFault(accepted) ? accepted : String(accepted.opId)
  })
}

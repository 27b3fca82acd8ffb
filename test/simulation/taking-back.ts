// Takes back Messages that wait for their time.

import { isFault } from '#domain/fault'
import type { Ask } from './asking.ts'
import { between } from './chance.ts'
import type { Chance } from './chance.ts'
import type { Channel } from './clients.ts'
import type { Observations, Sent } from './observations.ts'
import type { VirtualTime } from './virtual-time.ts'

export interface TakingBackParts {
  readonly time: VirtualTime
  readonly chance: Chance
  readonly observations: Observations
  readonly ask: Ask
}

const ATTEMPTS_MAX = 3

/** Takes a Message back that was accepted; resolves when its sender asks no more. */
export async function takeBack(
  { time, chance, observations, ask }: TakingBackParts,
  sent: Sent,
  channel: Channel,
): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX && !channel.isDeleted; attempt += 1) {
    if (sent.cancellation === 'none') sent.cancellation = 'open'
    const told = await ask(async ({ acceptance: { cancellations } }, caller) => {
      const { id, password } = channel
      const fields = { channel_id: id, password, op_id: sent.opId }
      const found = await cancellations.cancel(fields, caller)
      return isFault(found) ? found : found.status
    })
    if (told !== 'none' && 'value' in told) {
      sent.cancellation = 'done'
      return observations.note(`token ${sent.token} is taken back`)
    }
    const error = told === 'none' ? 'none' : told.error
    observations.note(`token ${sent.token} is not taken back: ${error}`)
    if (error === 'message_already_sent') {
      sent.cancellation = 'late'
      return
    }
    if (error === 'send_status_not_found' && !channel.isInDoubt) {
      observations.break('who has a 200 finds the operation', `to take ${sent.opId} back`)
    }
    const pauseMs = between(chance, 10, 1_000)
    await new Promise<void>((resolve) => void time.after(pauseMs, resolve))
  }
}

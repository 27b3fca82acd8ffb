// Submits what a sender wants to send, through the product's acceptance.

import { isFault } from '#domain/fault'
import type { Caller } from '#src/acceptance/caller'
import type { Stages } from '#src/runtime/stages'
import type { Sent } from './observations.ts'
import { ASKING, eventIdOf } from './people.ts'
import { levelOf } from './rules-of-channels.ts'

export interface Submitting {
  readonly sent: Sent
  readonly password: string
  readonly isClaimed: boolean
  readonly caller: Caller
}

/** Gives the op_id, or the fault. */
export async function submitTo(
  { acceptance: { submissions } }: Stages,
  { sent, password, isClaimed, caller }: Submitting,
) {
  const { model, token, thingId, key, observedAt, channelId, opId, delayS, isAsking } = sent
  const place = { channel_id: channelId, password }
  const title = `token ${token}`
  const accepted = await (model === 'thing'
    ? submissions.submit(
        { model, action: 'update' },
        {
          ...place,
          thing_id: thingId,
          observed_at: observedAt,
          attrs: { [key]: token, level: levelOf(token) },
        },
        caller,
      )
    : model === 'event'
      ? submissions.submit(
          { model, action: isAsking ? 'update' : 'create' },
          {
            ...place,
            event_time: observedAt,
            title,
            ...(isAsking && { event_id: eventIdOf(sent), ...ASKING }),
          },
          caller,
        )
      : submissions.submit(
          { model, action: 'send' },
          {
            ...place,
            title,
            ...(isClaimed && { op_id: opId }),
            ...(delayS > 0 && { delay: `${delayS}s` }),
          },
          caller,
        ))
  return isFault(accepted) ? accepted : String(accepted.opId)
}

// The judge of what senders were told: a 200 is kept.

import type { Final } from './judge.ts'
import type { Observations, Sent } from './observations.ts'

export const ENDED: ReadonlySet<string> = new Set([
  'sent',
  'failed',
  'partially_failed',
  'cancelled',
])

interface Applied {
  /** The op_id of each token that has an entry. */
  readonly applied: ReadonlyMap<number, string>
  readonly final: Final
}

/** Every 200 is applied, its operation has ended, and nothing but newer data replaced it. */
export function judgeSent(
  observations: Observations,
  sent: readonly Sent[],
  { applied, final }: Applied,
): void {
  const newest = newestOf(sent.filter(({ token }) => applied.has(token)))
  for (const one of sent) {
    if (one.outcome !== 'accepted') continue
    // A PUBACK has no op_id.
    const opId = one.opId ?? applied.get(one.token) ?? ''
    const where = `token ${one.token}, op ${opId}`
    const status = final.statuses.get(opId)
    if (status === undefined) {
      observations.break('every 200 has a record', where)
      continue
    }
    if (!ENDED.has(status)) observations.break('every operation ends', `${where}: ${status}`)
    if (one.delayS > 0 && !judgeTakenBack(observations, one, { where, status, applied })) continue
    if (status === 'failed') observations.break('every 200 is applied', `${where} failed`)
    if (applied.has(one.token)) continue
    const isOld = one.model === 'thing' && (newest.get(nameOf(one)) ?? 0) > one.observedAt
    if (!isOld) observations.break('every 200 is applied', `${where} has no entry`)
  }
}

interface Ended {
  readonly where: string
  readonly status: string
  readonly applied: ReadonlyMap<number, string>
}

/** A Message that waited was sent or taken back, as its sender was told. True when it was sent. */
function judgeTakenBack(
  observations: Observations,
  { token, cancellation }: Sent,
  { where, status, applied }: Ended,
): boolean {
  const isSent = applied.has(token)
  const isTakenBack = status === 'cancelled'
  const isAsTold =
    (cancellation !== 'done' || isTakenBack) &&
    (cancellation === 'done' || cancellation === 'open' || !isTakenBack)
  if (isSent === isTakenBack || !isAsTold) {
    const detail = `${where}: ${status}, taken back: ${cancellation}, ${isSent ? '' : 'not '}sent`
    observations.break('a Message that waits is sent or taken back', detail)
  }
  return !isTakenBack
}

export const nameOf = ({ channelId, thingId, key }: Sent): string =>
  `${channelId} ${thingId} ${key}`

/** Returns the newest observed_at of each key. */
export function newestOf(sent: readonly Sent[]): ReadonlyMap<string, number> {
  const newest = new Map<string, number>()
  for (const one of sent) {
    const name = nameOf(one)
    newest.set(name, Math.max(newest.get(name) ?? 0, one.observedAt))
  }
  return newest
}

// The rights of a key: what it may send and read. (docs/decisions.md 12)
//
// Invariants:
//   key-rights/1. A key with a prefix sends and reads nothing but Things whose id begins with it,
//                 and Events that are filed under one of those. What it is refused depends on its
//                 own words alone, so a refusal tells nothing of other Things and Events.
//   key-rights/2. An update or close by such a key names its prefix to the channel's actor: the
//                 state that the log gives, and not a read before it, says whose the Event is.

import type { Event } from '#domain/entity'
import type { KeyScope, StoredKey } from '#domain/channel-keys'
import { fault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { EventSubmission, Submission, ThingSubmission } from '#domain/submission'

const scopeMissing = (scope: KeyScope): Fault =>
  fault('key_scope', { detail: `the key lacks the scope ${scope}` })

const outside = ({ thingPrefix }: StoredKey, rule: string): Fault =>
  fault('key_scope', {
    detail: `the key is for Things whose id begins with ${thingPrefix}: ${rule}`,
  })

/** The refusal of a key that lacks a scope. */
export const scopeRefusal = ({ scopes }: StoredKey, scope: KeyScope): Fault | undefined =>
  scopes.includes(scope) ? undefined : scopeMissing(scope)

/** The refusal of a key with a prefix by a route that is about a whole channel. */
export const wholeRefusal = (key: StoredKey): Fault | undefined =>
  key.thingPrefix === '' ? undefined : outside(key, 'it opens no Messages and no whole channel')

/** The refusal to follow the feed: of one Thing, or of the whole channel without one. */
export const followRefusal = (key: StoredKey, thingId?: string): Fault | undefined => {
  const isOwn = thingId !== undefined && mayReadThing(key, thingId)
  return scopeRefusal(key, 'read') ?? (isOwn ? undefined : wholeRefusal(key))
}

/** The submission as the key may send it, or key_scope. */
export function allowed(key: StoredKey, sent: Submission): Answer<Submission> {
  const refusal = scopeRefusal(key, 'send')
  const submission = signed(sent, key.label)
  if (refusal !== undefined || key.thingPrefix === '') return refusal ?? submission
  // key-rights/1
  if (submission.model === 'message' || submission.model === 'cancellation') {
    return outside(key, 'it sends no Messages')
  }
  if (submission.model === 'rule') return outside(key, 'it puts and deletes no rules')
  return submission.model === 'thing' ? ofThing(key, submission) : ofEvent(key, submission)
}

/** Somebody who acknowledges and gives no name has that of the key or the device. */
export function signed(submission: Submission, label: string): Submission {
  if (submission.model !== 'event' || submission.action !== 'acknowledge') return submission
  const { acknowledging } = submission
  if (acknowledging?.by !== undefined || label === '') return submission
  return { ...submission, acknowledging: { ...acknowledging, by: label } }
}

function ofThing(key: StoredKey, submission: ThingSubmission): Answer<Submission> {
  if (submission.action === 'create') {
    return outside(key, 'send /thing/update with such a thing_id; create makes one of its own')
  }
  if (submission.entityId.startsWith(key.thingPrefix)) return submission
  return outside(key, 'thing_id does not')
}

function ofEvent(key: StoredKey, submission: EventSubmission): Answer<Submission> {
  const thingId = submission.patch.fields['thing_id']
  const isOwn = typeof thingId === 'string' && thingId.startsWith(key.thingPrefix)
  const isNew = submission.action === 'create'
  if (!isOwn && (isNew || thingId !== undefined)) return outside(key, 'thing_id does not')
  return isNew ? submission : { ...submission, within: key.thingPrefix } // key-rights/2
}

/** True when a key may read a Thing of this id. */
export const mayReadThing = ({ thingPrefix }: StoredKey, id: string): boolean =>
  id.startsWith(thingPrefix)

/** The refusal to read a Thing of another id. */
export const foreignThing = (key: StoredKey): Fault => outside(key, 'thing_id does not')

/** True when a key may read the Event. */
export function mayReadEvent({ thingPrefix }: StoredKey, { fields }: Event): boolean {
  const thingId = fields.values['thing_id']
  return thingPrefix === '' || (typeof thingId === 'string' && thingId.startsWith(thingPrefix))
}

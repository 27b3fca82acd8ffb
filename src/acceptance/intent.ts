// A caller's wish to submit, and its answer once the submission is accepted.

import type { EventAction, RuleAction, Submission, ThingAction } from '#domain/submission'

/** Model and action of a submission, and the Thing or new Event that its way in names, if any. */
export type Intent =
  | { readonly model: 'message'; readonly action: 'send' }
  | { readonly model: 'event'; readonly action: EventAction; readonly thingId?: string | undefined }
  | { readonly model: 'event'; readonly action: 'create'; readonly eventId: string }
  | { readonly model: 'event'; readonly action: 'acknowledge' }
  | { readonly model: 'thing'; readonly action: ThingAction }
  | { readonly model: 'rule'; readonly action: RuleAction }

/** The ids of a submission that is in the log. */
export type Accepted = Pick<Submission, 'model' | 'opId' | 'entityId'>

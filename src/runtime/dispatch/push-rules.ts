// What the store must know of pushes: who gets jobs, and what the operation's lifecycle says.

import { PROVIDERS } from '#domain/push'
import type { PushRules } from '#domain/push'
import { QUEUED, endOfQueued } from '#machines/operation'
import type { ThreadSettings } from '#src/threads/contract'

/** Jobs are made for the providers that are set up. */
export const pushRulesOf = ({
  providers,
  thingPushIntervalMs,
}: Pick<ThreadSettings, 'providers' | 'thingPushIntervalMs'>): PushRules => ({
  providers: PROVIDERS.filter((name) => providers[name] !== undefined),
  thingIntervalMs: thingPushIntervalMs,
  queued: QUEUED,
  ending: endOfQueued,
})

// Makes the rules of pushes for the store: the providers that get jobs, and the operation's
// lifecycle.

import { PROVIDERS } from '#domain/push/providers'
import type { PushRules } from '#domain/push'
import { QUEUED, endOfQueued } from '#machines/operation'
import type { ThreadSettings } from '#src/runtime/threads/contract'

/** The rules for the providers that are set up. */
export const pushRulesOf = ({
  providers,
  thingPushIntervalMs,
}: Pick<ThreadSettings, 'providers' | 'thingPushIntervalMs'>): PushRules => ({
  providers: PROVIDERS.filter((name) => providers[name] !== undefined),
  thingIntervalMs: thingPushIntervalMs,
  queued: QUEUED,
  ending: endOfQueued,
})

// The behaviour of every store, as tests over a way to open an empty one. Each engine runs them all.

import type { PushRules } from '#domain/push'
import type { Store } from '#src/store/store'
import type { Owner } from '#test/support/gateway'
import { authorizationContract } from './store-authorization.ts'
import { bindingClientContract } from './store-binding-clients.ts'
import { bindSessionContract, bindingContract } from './store-bindings.ts'
import { catchUpContract } from './store-catch-up.ts'
import { catchUpManyContract } from './store-catch-up-many.ts'
import { deadLetterContract } from './store-dead-letters.ts'
import { gapsContract } from './store-gaps.ts'
import { channelKeyContract } from './store-channel-keys.ts'
import { channelContract } from './store-channels.ts'
import { idleContract } from './store-idle.ts'
import { operationContract } from './store-operations.ts'
import { orderedReadsContract } from './store-ordered-reads.ts'
import { pageBytesContract } from './store-page-bytes.ts'
import { presentationContract } from './store-presentations.ts'
import { preferenceContract } from './store-preferences.ts'
import { pushContract } from './store-pushes.ts'
import { pushOrderContract } from './store-push-order.ts'
import { readingContract } from './store-reading.ts'
import { scanContract } from './store-scan.ts'
import { receiptContract } from './store-receipts.ts'
import { retentionContract } from './store-retention.ts'
import { secretContract } from './store-secrets.ts'
import { subscriptionContract } from './store-subscriptions.ts'
import { hookContract } from './store-hooks.ts'
import { mappingContract } from './store-mappings.ts'
import { keySessionContract } from './store-key-sessions.ts'
import { mqttSessionContract } from './store-mqtt-sessions.ts'
import { acknowledgementContract } from './store-acknowledgements.ts'
import { ruleContract } from './store-rules.ts'
import { leaseTableContract } from './store-leases.ts'
import { turnContract } from './store-turns.ts'

/**
 * Opens an empty store that is closed and removed when the test is over. `pushes`: with jobs for
 * dispatch.
 */
export type OpenStore = (t: Owner, pushes?: PushRules) => Promise<Store>

export function storeContract(engine: string, open: OpenStore): void {
  for (const contract of [
    turnContract,
    leaseTableContract,
    ruleContract,
    channelContract,
    channelKeyContract,
    authorizationContract,
    bindingContract,
    bindSessionContract,
    bindingClientContract,
    subscriptionContract,
    mqttSessionContract,
    keySessionContract,
    mappingContract,
    deadLetterContract,
    hookContract,
    acknowledgementContract,
    operationContract,
    readingContract,
    scanContract,
    orderedReadsContract,
    presentationContract,
    pageBytesContract,
    catchUpContract,
    catchUpManyContract,
    gapsContract,
    secretContract,
    receiptContract,
    retentionContract,
    idleContract,
    preferenceContract,
    pushContract,
    pushOrderContract,
  ]) {
    contract(engine, open)
  }
}

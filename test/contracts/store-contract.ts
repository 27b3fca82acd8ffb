// The behaviour of every store, as tests over a way to open an empty one. Each engine runs them all.

import type { ExecutionContext } from 'ava'

import type { PushRules } from '#domain/push'
import type { Store } from '#src/store/store'
import { authorizationContract } from './store-authorization.ts'
import { bindingClientContract } from './store-binding-clients.ts'
import { bindSessionContract, bindingContract } from './store-bindings.ts'
import { catchUpContract } from './store-catch-up.ts'
import { catchUpManyContract } from './store-catch-up-many.ts'
import { gapsContract } from './store-gaps.ts'
import { channelKeyContract } from './store-channel-keys.ts'
import { channelContract } from './store-channels.ts'
import { idleContract } from './store-idle.ts'
import { operationContract } from './store-operations.ts'
import { pageBytesContract } from './store-page-bytes.ts'
import { pushContract } from './store-pushes.ts'
import { pushOrderContract } from './store-push-order.ts'
import { parkedContract } from './store-parked.ts'
import { readingContract } from './store-reading.ts'
import { retentionContract } from './store-retention.ts'
import { secretContract } from './store-secrets.ts'
import { subscriptionContract } from './store-subscriptions.ts'
import { mappingContract } from './store-mappings.ts'
import { keySessionContract } from './store-key-sessions.ts'
import { mqttSessionContract } from './store-mqtt-sessions.ts'
import { acknowledgementContract } from './store-acknowledgements.ts'
import { ruleContract } from './store-rules.ts'
import { turnContract } from './store-turns.ts'

/**
 * Opens an empty store that is closed and removed when the test is over. `pushes`: with jobs for
 * dispatch.
 */
export type OpenStore = (t: ExecutionContext, pushes?: PushRules) => Promise<Store>

export function storeContract(engine: string, open: OpenStore): void {
  for (const contract of [
    turnContract,
    ruleContract,
    parkedContract,
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
    acknowledgementContract,
    operationContract,
    readingContract,
    pageBytesContract,
    catchUpContract,
    catchUpManyContract,
    gapsContract,
    secretContract,
    retentionContract,
    idleContract,
    pushContract,
    pushOrderContract,
  ]) {
    contract(engine, open)
  }
}

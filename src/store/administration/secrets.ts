// The secrets that the gateway makes once.
//
// Invariants:
//   kept-secrets/1. A secret is made once: all nodes that ask get the first one's, also when they
//     ask at the same time.

import type { SecretStore } from '#domain/push/secrets'
import type { Database } from '#src/store/jobs/database'
import { factFor } from '#src/store/turns/lanes'

export const secretsOn = (database: Database): SecretStore => ({
  // kept-secrets/1
  kept: (name, first) =>
    database.durable((executor) => factFor(executor, name, first), { isIdempotent: true }),
})

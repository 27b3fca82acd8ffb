// The secrets that the gateway makes once.
//
// Invariants:
//   kept-secrets/1. A secret is made once: all nodes that ask get the first one's, also when they
//     ask at the same time.

import type { SecretStore } from '#domain/push/secrets'
import type { Database } from '#src/store/jobs/database'
import { factFor } from '#src/store/turns/lanes'

export class Secrets implements SecretStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  kept(name: string, first: string): Promise<string> {
    // kept-secrets/1
    return this.#database.durable((executor) => factFor(executor, name, first), {
      isIdempotent: true,
    })
  }
}

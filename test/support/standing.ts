// Makes what the tests of a process share: those of a file, or of all files of its group.

import test from 'ava'

import { startGateway } from './gateway.ts'
import type { Owner } from './gateway.ts'

/** Makes something, a cluster for instance, when the first test asks for it; it ends with them all. */
export function standing<Thing, Given extends readonly unknown[]>(
  make: (owner: Owner, ...given: Given) => Promise<Thing>,
): (...given: Given) => Promise<Thing> {
  const teardowns: Parameters<Owner['teardown']>[0][] = []
  test.after.always('what the tests share ends', async () => {
    for (const end of teardowns.toReversed()) await end()
  })
  let made: Promise<Thing> | undefined
  return (...given) => (made ??= make({ teardown: (end) => void teardowns.push(end) }, ...given))
}

/** A gateway for tests that make channels of their own and leave it as they find it. */
export const standingGateway = standing((owner) => startGateway(owner))

/** Without a gateway token, so that only keys count; the budget is ample. */
export const OPEN = { SERVICE_TOKEN: '', SERVICE_PASSWORD_BUDGET_PER_ADDRESS: '1000' }

/** The same for anybody. */
export const standingOpenGateway = standing((owner) => startGateway(owner, { env: OPEN }))

// Servers that the tests of a file share.

import test from 'ava'
import type { ExecutionContext } from 'ava'
import { TEST_MS } from './bounds.ts'

/** Servers that run, or the reason why they do not. */
export type Started<Servers> =
  | { readonly kind: 'started'; readonly servers: Servers }
  | { readonly kind: 'missing'; readonly reason: string }

export interface SharedServers<Servers> {
  /** Declares a test. Without the servers it gives the reason and passes; under CI=true it fails. */
  readonly test: (
    title: string,
    run: (t: ExecutionContext, servers: Servers) => Promise<void>,
  ) => void
  /** The servers; throws before they run. */
  readonly servers: () => Servers
}

export interface SharedServersOptions<Servers> {
  readonly start: () => Promise<Started<Servers>>
  readonly stop: (servers: Servers) => Promise<void>
  /** True: one test at a time. */
  readonly isSerial: boolean
}

/** Starts the servers before the tests of a file and ends them after these. */
export function sharedServers<Servers>(
  name: string,
  { start, stop, isSerial }: SharedServersOptions<Servers>,
): SharedServers<Servers> {
  let started: Started<Servers> | undefined
  test.before(`${name} starts`, async (t) => {
    t.timeout(TEST_MS)
    started = await start()
    const isRequired = process.env['CI'] === 'true'
    if (started.kind === 'missing' && isRequired) throw new Error(started.reason)
  })
  test.after.always(`${name} stops`, async () => {
    if (started?.kind === 'started') await stop(started.servers)
  })
  const declare = isSerial ? test.serial : test
  return {
    test: (title, run) =>
      declare(title, async (t) => {
        if (started === undefined) return t.fail(`${name} did not start`)
        if (started.kind === 'started') return run(t, started.servers)
        t.log(`not run: ${started.reason}`)
        return t.pass()
      }),
    servers: () => {
      if (started?.kind !== 'started') throw new Error(`${name} does not run`)
      return started.servers
    },
  }
}

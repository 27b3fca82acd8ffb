import test from 'ava'

import type { NatsServer } from '#src/dev/servers/nats'
import { LocalBus } from '#src/stream/embedded/bus'
import { NatsBus } from '#src/stream/jetstream/bus'
import { busContract } from '#test/contracts/bus-contract'
import { connectNode, only, testsWithNats } from '#test/support/nats'

busContract(
  (title, run) => test(`embedded: ${title}`, run),
  () => {
    const bus = new LocalBus()
    return Promise.resolve({ here: bus, there: bus, settle: () => Promise.resolve() })
  },
)

const testWithNats = testsWithNats()
let server: NatsServer | undefined
let buses = 0

busContract(
  (title, run) =>
    testWithNats(`NATS: ${title}`, (t, servers) => {
      server = only(servers)
      return run(t)
    }),
  async (t) => {
    buses += 1
    const url = server?.url ?? ''
    const [one, two] = [await connectNode(t, url, 'one'), await connectNode(t, url, 'two')]
    return {
      here: new NatsBus(one, `bus${buses}`),
      there: new NatsBus(two, `bus${buses}`),
      settle: async () => {
        // Both ways: what one has sent is at the server, then what the server had for the other is
        // there.
        for (const { connection } of [one, two, one, two]) await connection.nats.flush()
      },
    }
  },
)

import { join } from 'node:path'

import test from 'ava'

import type { NatsServer } from '#src/dev/servers/nats'
import { openLog as openLogStore } from '#src/store/log'
import type { LogStore } from '#src/store/log'
import { logContract } from '#test/contracts/log-contract'
import { openEmbeddedLog } from '#test/support/embedded-log'
import { FakeLogger, FakeMeter } from '#test/support/fake-telemetry'
import { temporaryFolder } from '#test/support/gateway'
import { connectNode, only, openLog, ownStream, testsWithNats } from '#test/support/nats'
import { realRuntime } from '#test/support/real-runtime'

logContract(
  (title, run) => test(`embedded: ${title}`, run),
  async (t, { bytesMax }) => {
    const url = `sqlite:${join(await temporaryFolder(t), 'log.db')}`
    const meter = new FakeMeter()
    let store: LogStore | undefined
    t.teardown(() => store?.close())
    return {
      open: async () => {
        store = await openLogStore({ runtime: realRuntime, url, meter })
        const ports = {
          table: store.table,
          meter,
          logger: new FakeLogger(),
          nowMs: () => 2000,
          soon: setImmediate,
          onFenced: () => undefined,
        }
        return openEmbeddedLog(ports, { lanes: 8, bytesMax, tailBytesMax: 2 ** 20 })
      },
      crash: async () => {
        await store?.close()
        store = undefined
      },
    }
  },
)

const testWithNats = testsWithNats()

// The makers of the contract take the test only; the servers are the same for the whole file.
let server: NatsServer | undefined

logContract(
  (title, run) =>
    testWithNats(`JetStream: ${title}`, (t, servers) => {
      server = only(servers)
      return run(t)
    }),
  async (t, { bytesMax }) => {
    const options = ownStream(bytesMax)
    const url = server?.url ?? ''
    return {
      open: async () => openLog(t, await connectNode(t, url), options),
      crash: async () => {
        await server?.kill('SIGKILL')
        await server?.restart()
      },
    }
  },
)

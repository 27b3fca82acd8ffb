// Goal: a gateway that cannot have its port says so and ends, so that whoever started it can start
// it again; one that stays without a port looks alive and serves nobody.

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import test from 'ava'

import { startGateway, temporaryFolder } from '#test/support/gateway'

test('a gateway whose port is taken ends with 1 and the reason, and takes no lane', async (t) => {
  const first = await startGateway(t)
  const directory = await temporaryFolder(t)
  const env = { SERVICE_HTTP_ADDR: first.baseUrl.replace('http://', '') }
  await t.throwsAsync(startGateway(t, { directory, env }), {
    message: /the gateway ended with 1: .*cannot listen on 127.0.0.1 port \d+: EADDRINUSE/,
  })
  const database = new DatabaseSync(join(directory, 'gateway.db'), { readOnly: true })
  t.deepEqual(database.prepare('SELECT lane FROM lanes').all(), [])
  database.close()
})

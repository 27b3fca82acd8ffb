// Goal: a gateway that cannot have its port says so and ends, so that whoever started it can start
// it again; one that stays without a port looks alive and serves nobody.

import test from 'ava'

import { startGateway } from '#test/support/gateway'

test('a gateway whose port is taken ends with 1 and the reason', async (t) => {
  const first = await startGateway(t)
  const address = first.baseUrl.replace('http://', '')
  await t.throwsAsync(startGateway(t, { env: { SERVICE_HTTP_ADDR: address } }), {
    message: /the gateway ended with 1: .*cannot listen on 127.0.0.1 port \d+: EADDRINUSE/,
  })
})

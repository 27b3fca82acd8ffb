// Goal: a gateway counts what can send requests; the connection of a device is none of it.

import { get } from 'node:http'
import { text } from 'node:stream/consumers'

import test from 'ava'

import { startGateway } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'
import { RawWebSocket } from '#test/support/raw-websocket'

/** Read over a connection that is opened for it. */
async function openConnections({ baseUrl, token }: Gateway): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  const metrics = await new Promise<string>((resolve, reject) => {
    const asked = get(`${baseUrl}/metrics`, { agent: false, headers }, (response) => {
      text(response).then(resolve, reject)
    })
    asked.on('error', reject)
  })
  return Number(/^heliograph_http_connections (\d+)$/m.exec(metrics)?.[1])
}

test('a connection that has become a WebSocket is no longer counted', async (t) => {
  const gateway = await startGateway(t)
  const before = await openConnections(gateway)
  t.true(before >= 1)
  const url = `${gateway.baseUrl.replace('http', 'ws')}/private/ws`
  const device = await RawWebSocket.open(url, () => undefined)
  t.teardown(() => device.socket.destroy())
  // Fewer: connections of the start may have ended meanwhile.
  t.true((await openConnections(gateway)) <= before)
})

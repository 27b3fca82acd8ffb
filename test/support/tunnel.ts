// A proxy that leads every tunnel to one server: clients whose host is fixed reach a gateway here,
// and nothing else changes for them.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'

import type { ExecutionContext } from 'ava'

/** Gives the address for HTTPS_PROXY. It goes with the test. */
export async function startTunnel(t: ExecutionContext, port: number): Promise<string> {
  const server = createServer()
  server.on('connect', (_, client) => {
    const gateway = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      client.pipe(gateway).pipe(client)
    })
    gateway.on('error', () => client.destroy())
    client.on('error', () => gateway.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

// A whole gateway that lets assistants in, and channels for them to use.

import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

import type { ExecutionContext } from 'ava'

import { post, startGateway } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'
import { PASSWORD } from '#test/support/making'

/** Starts it on the loopback. */
export async function startAssistantsGateway(t: ExecutionContext): Promise<Gateway> {
  const SERVICE_HTTP_ADDR = `127.0.0.1:${await freePort()}`
  return startGateway(t, { env: { SERVICE_MCP_ENABLED: 'true', SERVICE_HTTP_ADDR } })
}

/** Creates a channel with PASSWORD; gives its id. */
export async function createChannel(gateway: Gateway): Promise<string> {
  const made = await post(gateway, '/channel/create', { channel_name: 'x', password: PASSWORD })
  return String(made.body.data['channel_id'])
}

/** A port that was free a moment ago: the address of a server must be known before it listens. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

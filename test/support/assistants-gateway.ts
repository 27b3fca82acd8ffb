// A whole gateway that lets assistants in, and channels for them to use.

import type { ExecutionContext } from 'ava'

import { freePort } from '#test/support/free-port'
import { post, startGateway } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'
import { PASSWORD } from '#test/support/making'

/** Starts it on the loopback. */
export async function startAssistantsGateway(t: ExecutionContext): Promise<Gateway> {
  const SERVICE_HTTP_ADDR = `127.0.0.1:${await freePort(t)}`
  return startGateway(t, { env: { SERVICE_MCP_ENABLED: 'true', SERVICE_HTTP_ADDR } })
}

/** Creates a channel with PASSWORD; gives its id. */
export async function createChannel(gateway: Gateway): Promise<string> {
  const made = await post(gateway, '/channel/create', { channel_name: 'x', password: PASSWORD })
  return String(made.body.data['channel_id'])
}

// Goal: an assistant with the gateway token uses a whole gateway by the official client.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import test from 'ava'
import type { ExecutionContext } from 'ava'

import type { Wire } from '#src/schemas/members'
import { PASSWORD } from '#test/support/making'
import { figureOf, post, startGateway, until } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'
import { standingGateway } from '#test/support/standing'

const REVISIONS = ['2025-06-18', '2025-11-25', '2026-07-28']

test.serial('with each revision a Message is sent and a Thing is kept', async (t) => {
  const gateway = await startGateway(t, { env: { SERVICE_MCP_ENABLED: 'true' } })
  const made = await post(gateway, '/channel/create', { channel_name: 'x', password: PASSWORD })
  const channel = { channel_id: made.body.data['channel_id'], password: PASSWORD }
  for (const revision of REVISIONS) {
    const client = await connect(t, gateway, revision)
    const { tools } = await client.listTools()
    t.is(tools.length, 25)
    const call = async (name: string, fields: object): Promise<Wire> => {
      const answer = await client.callTool({ name, arguments: { ...channel, ...fields } })
      t.not(answer.isError, true, JSON.stringify(answer.content))
      return answer.structuredContent as Wire
    }
    await call('message_send', { title: 'Done', severity: 'high' })
    const thing = await call('thing_create', { observed_at: Date.now(), attrs: { rpm: 900 } })
    const { op_id: opId, thing_id: thingId } = thing
    const status = { name: 'send_status', arguments: { op_id: opId } }
    await until(
      async () => (await client.callTool(status)).structuredContent,
      (record) => JSON.stringify(record).includes('"sent"'),
    )
    t.like(await call('thing_get', { thing_id: thingId }), { state: 'active', attrs: { rpm: 900 } })
  }
  t.is(await figureOf(gateway, 'heliograph_accepted_total'), 2 * REVISIONS.length)
  t.true((await figureOf(gateway, 'heliograph_tool_calls_total')) >= 4 * REVISIONS.length)
  const log = JSON.stringify(gateway.lines)
  for (const secret of [PASSWORD, gateway.token]) t.false(log.includes(secret))
})

test.serial('without the setting there is no surface for assistants', async (t) => {
  const gateway = await standingGateway()
  t.is((await post(gateway, '/mcp', {})).status, 404)
})

async function connect(t: ExecutionContext, gateway: Gateway, revision: string): Promise<Client> {
  const client = new Client(
    { name: 'an-assistant', version: '1' },
    revision.startsWith('2026')
      ? { versionNegotiation: { mode: { pin: revision } } }
      : { supportedProtocolVersions: [revision] },
  )
  t.teardown(() => client.close())
  const requestInit = { headers: { authorization: `Bearer ${gateway.token}` } }
  const url = new URL(`${gateway.baseUrl}/mcp`)
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }))
  return client
}

// Goal: on a whole gateway a person lets an assistant in, and it uses the bound channel and no
// other until the person ends that.

import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import test from 'ava'
import type { ExecutionContext } from 'ava'

import { Browser, Client } from '#test/support/authorization-rig'
import type { Talking } from '#test/support/authorization-rig'
import { createChannel, startAssistantsGateway } from '#test/support/assistants-gateway'
import type { Gateway } from '#test/support/gateway'
import { PASSWORD } from '#test/support/making'

function talkingTo({ baseUrl }: Gateway): Talking {
  const send: Talking['send'] = async (path, init) => {
    const response = await fetch(baseUrl + path, init)
    const text = await response.text()
    const json = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {}
    return { status: response.status, headers: response.headers, text, json }
  }
  return {
    url: baseUrl,
    send,
    post: (path, body) => {
      const headers = { 'content-type': 'application/json' }
      return send(path, { method: 'POST', headers, body: JSON.stringify(body) })
    },
  }
}

async function connect(
  t: ExecutionContext,
  { baseUrl }: Gateway,
  token: string,
): Promise<McpClient> {
  const client = new McpClient({ name: 'an-assistant', version: '1' })
  t.teardown(() => client.close())
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  const url = new URL(`${baseUrl}/mcp`)
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }))
  return client
}

test.serial('an assistant sends to the channel that a person bound to it', async (t) => {
  const gateway = await startAssistantsGateway(t)
  const { baseUrl } = gateway
  const [bound, other] = [await createChannel(gateway), await createChannel(gateway)]
  const resource = `${baseUrl}/mcp`
  const client = await Client.register(talkingTo(gateway))
  const browser = new Browser(baseUrl, {}, baseUrl)
  const page = await client.ask(browser, { resource })
  const fields = { channel_id: bound, password: PASSWORD }
  const end = await browser.follow(await browser.send(page, { ...fields, decision: 'allow' }))
  const code = new URL(end.location).searchParams.get('code') ?? ''
  const { json } = await client.redeem(code, { resource })
  const token = String(json['access_token'])
  const assistant = await connect(t, gateway, token)
  const send = (channelId: string) =>
    assistant.callTool({
      name: 'message_send',
      arguments: { channel_id: channelId, title: 'Done' },
    })
  t.not((await send(bound)).isError, true)
  t.true((await send(other)).isError)
  const assistants = await browser.open('/oauth/assistants')
  const shown = await browser.send(assistants, { ...fields, decision: 'show' })
  const chosen = /name="assistant" value="([^"]+)"/.exec(shown.html)?.[1] ?? ''
  await browser.send(shown, { ...fields, decision: 'revoke', assistant: chosen })
  await t.throwsAsync(async () => send(bound))
  const log = JSON.stringify(gateway.lines)
  for (const secret of [PASSWORD, token, code]) t.false(log.includes(secret))
})

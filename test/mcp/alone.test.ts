// Goal: each request stands alone, so any node answers any. (mcp/2)

import test from 'ava'

import { CHANNEL } from '#test/support/making'
import { TOKEN, startMcp } from '#test/support/mcp-rig'
import type { McpRig } from '#test/support/mcp-rig'

const rpc = (method: string, params: object = {}): object => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  params,
})

const INITIALIZE = rpc('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'a-client', version: '1.0.0' },
})
const LIST = rpc('tools/list')
const CHANNELS = rpc('tools/call', { name: 'channel_list', arguments: {} })

test('mcp/2: a node answers a client that began at another one, and gives it no session', async (t) => {
  const [one, other] = [await startMcp(t), await startMcp(t)]
  const began = await one.rpc(INITIALIZE)
  t.is(began.status, 200)
  const answers = [began]
  for (const message of [LIST, CHANNELS]) {
    const [here, there] = [await one.rpc(message), await other.rpc(message)]
    t.is(there.status, 200)
    t.is(there.text, here.text)
    answers.push(here, there)
  }
  for (const { headers } of answers) t.is(headers.get('mcp-session-id'), null)
})

test('mcp/2: concurrent callers each get the channels of their own grant', async (t) => {
  const rig = await startMcp(t)
  rig.issue('without', ['mcp:tools'])
  const asked = Array.from({ length: 8 }, async (_, at) => {
    const token = at % 2 === 0 ? TOKEN : 'without'
    return [token, await isTold(rig, token)] as const
  })
  for (const [token, told] of await Promise.all(asked)) t.is(told, token === TOKEN)
})

/** True when the holder of this token sees the rig's channel. */
async function isTold(rig: McpRig, token: string): Promise<boolean> {
  const { status, text } = await rig.rpc(CHANNELS, { authorization: `Bearer ${token}` })
  if (status !== 200) throw new Error(`${status} ${text}`)
  return text.includes(CHANNEL)
}

// Goal: each request stands alone, so any node answers any. (mcp/2)

import test from 'ava'

import { LIST, callOf, startMcp } from '#test/support/mcp-rig'
import { channel } from '#test/support/submissions'
import { until } from '#test/support/until'

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'a-client', version: '1.0.0' },
  },
}
const CHANNELS = callOf('channel_list')

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

// Method: the requests go on together behind each question to a port, so that anything kept for one
// of them is there when the others need theirs.
test('mcp/2: requests that are answered together know nothing of each other', async (t) => {
  const rig = await startMcp(t)
  const callers = [1, 2, 3, 4].map((number) => {
    const { grantId } = rig.issue(`token-${number}`, ['mcp:tools'])
    rig.bindings.bind(grantId, channel(number))
    return { authorization: `Bearer token-${number}`, channelId: channel(number) }
  })
  const { tokens, bindings } = rig
  const verify = meeting(callers.length, tokens.verify.bind(tokens))
  const ofGrant = meeting(callers.length, bindings.ofGrant.bind(bindings))
  Object.assign(tokens, { verify })
  Object.assign(bindings, { ofGrant })
  const answers = await Promise.all(
    callers.map(({ authorization }) => rig.rpc(CHANNELS, { authorization })),
  )
  const seen = answers.map(({ text }) =>
    callers.flatMap(({ channelId }) => (text.includes(channelId) ? [channelId] : [])),
  )
  t.deepEqual(
    seen,
    callers.map(({ channelId }) => [channelId]),
  )
})

/** The calls of a function wait for each other, and go on in one turn of the event loop. */
function meeting<Input extends readonly unknown[], Output>(
  count: number,
  run: (...input: Input) => Promise<Output>,
): (...input: Input) => Promise<Output> {
  let arrived = 0
  const all = until(`${count} calls have come`, () => arrived >= count)
  return async (...input) => {
    arrived += 1
    await all
    return run(...input)
  }
}

// Goal: a channel whose every update sets hundreds of rules off holds up no other channel: it waits
// alone. (W8, following/1)
// Method: counted in firings, not in time. Without a bound all that the channel has sent stands
// before the others. Each question of the test waits for a turn, too.

import test from 'ava'

import type { ChannelId } from '#domain/identity'
import { createChannels } from '#test/support/device'
import { startGateway } from '#test/support/gateway'
import { FIRINGS, firingsBeforeOthers } from '#test/support/rules-burst'

test('W8: updates that set hundreds of rules off each do not hold up other channels', async (t) => {
  const gateway = await startGateway(t)
  const [greedy = '' as ChannelId, other = '' as ChannelId] = await createChannels(gateway, 2)
  const nodes = { accepting: gateway, applying: gateway }
  const counts = await firingsBeforeOthers(nodes, [greedy, other])
  t.log(`${counts.join(', ')} firings before the updates of another channel`)
  t.true(Math.max(...counts) < FIRINGS / 2, counts.join(', '))
})

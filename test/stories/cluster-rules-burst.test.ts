// Goal: a channel with hundreds of rules holds up no other channel of its lane, when one node accepts
// and another owns the lane: the acceptor learns from the owner how far the rules reach. (W8,
// announcing/2)
// Method: counted in firings of the owner, not in time, as in rules-burst.test.ts.

import { laneOf } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import {
  LANES,
  allLanesApplied,
  nodeOf,
  startCluster,
  testsWithServers,
} from '#test/support/cluster'
import { createChannels } from '#test/support/device'
import { FIRINGS, firingsBeforeOthers } from '#test/support/rules-burst'

const clusterTest = testsWithServers()

clusterTest(
  'W8: rules that one node applies are charged where another accepts',
  async (t, servers) => {
    const roles = [{ SERVICE_ROLES: 'actors' }, { SERVICE_ROLES: 'ingress' }]
    const cluster = await startCluster(t, servers, roles)
    const [applying, accepting] = [nodeOf(cluster, 0), nodeOf(cluster, 1)]
    await allLanesApplied(accepting)
    const channels = await createChannels(accepting, LANES + 1) // Two of them share a lane.
    const byLane = Map.groupBy(channels, (id) => laneOf(id, LANES))
    const shared = [...byLane.values()].find(({ length }) => length > 1) ?? []
    const [greedy = '' as ChannelId, other = '' as ChannelId] = shared
    const counts = await firingsBeforeOthers({ accepting, applying }, [greedy, other])
    t.log(`${counts.join(', ')} firings before the updates of another channel`)
    t.true(Math.max(...counts) < FIRINGS / 2, counts.join(', '))
  },
)

// Queries and series of a node over NATS and MySQL: the figures of `query` and `tiers` in a cluster.

import { join } from 'node:path'

import { TIER_MS } from '#domain/history/series'
import type { ChannelId } from '#domain/identity'
import { systemRuntime } from '#src/process/system-runtime'
import { RUN_UPDATES } from '#src/store/retention/joining'
import { openStore } from '#src/store/store'
import { spread } from '#test/bench/load/statistics'
import { columnsAt, writeRowsAt } from '#test/bench/rig/backend'
import { Caller } from '#test/bench/rig/caller'
import { keyedChannels } from '#test/bench/rig/channel-keys'
import { startCluster } from '#test/bench/rig/cluster'
import type { Cluster } from '#test/bench/rig/cluster'
import { Fleet } from '#test/bench/rig/fleet'
import { writeThings } from '#test/bench/rig/keyed-rows'
import { FakeMeter } from '#test/support/fake-telemetry'
import { QUERIED_THINGS, QUERY_GOALS, queriesAt } from './query.ts'
import type { Row } from './row.ts'
import { DAYS, TIER_GOALS, UNJOINED, seriesAt } from './tiers.ts'

/** Things that report five numbers each hour. */
const FLEET = 200
const EVERY_MS = TIER_MS['1h']

export const HISTORY_CLUSTER_ROW: Row = {
  name: 'history-cluster',
  async measure({ options, subjects }) {
    const directory = join(await subjects.scratch(), 'history-cluster')
    const cluster = await startCluster(directory, { channels: 2, layout: 'one' })
    try {
      const { backend, token } = cluster
      const [server] = cluster.nodes
      if (server === undefined) throw new Error('the cluster has no node')
      const [ids = []] = await columnsAt(backend.databaseUrl, [
        'SELECT id FROM channels ORDER BY id',
      ])
      const channels = ids.map(Number)
      await writeRowsAt(backend.databaseUrl, async (writer) => {
        await writeThings(writer, { count: QUERIED_THINGS, channels: channels.slice(0, 1) })
        await writeThings(writer, { count: FLEET, channels: channels.slice(1) })
      })
      const pids = [server.pid, ...Object.values(backend.pids)]
      const { cpu, seconds } = await queriesAt(server, token, pids)
      options.say(`  history-cluster: ${JSON.stringify({ cpu, seconds })}`)
      const [, watched] = keyedChannels(2)
      if (watched === undefined) throw new Error('there is no channel')
      await live(cluster, watched.channelId)
      const asked = { key: watched.key, things: FLEET, say: options.say }
      const series = await seriesAt(new Caller(server, token), asked)
      const dearest = Math.max(...Object.values(cpu))
      const details = { things: QUERIED_THINGS, fleet: FLEET, seconds }
      return [
        {
          row: 'history-cluster.query',
          unit: 's of CPU, the dearest',
          value: spread([dearest]),
          goal: QUERY_GOALS.cpu,
          details,
        },
        ...Object.entries(series).map(([days, ms]) => ({
          row: `history-cluster.series-${days}`,
          unit: 'ms, p99',
          value: spread([ms]),
          goal: TIER_GOALS.series,
          details,
        })),
      ]
    } finally {
      await cluster.end()
    }
  },
}

/** Lets a fleet report for its days, up to now. */
async function live({ backend }: Pick<Cluster, 'backend'>, channelId: ChannelId): Promise<void> {
  const store = await openStore({
    url: backend.databaseUrl,
    runtime: systemRuntime(),
    meter: new FakeMeter(),
    hasTiers: true,
  })
  const endMs = Date.now()
  const startMs = endMs - DAYS * TIER_MS['1d']
  const fleet = await Fleet.open(store, { channelId, things: FLEET, everyMs: EVERY_MS, startMs })
  const lastMs = endMs - (UNJOINED.updates * EVERY_MS) / FLEET
  while (fleet.nowMs < lastMs) {
    await fleet.commit(RUN_UPDATES)
    await store.joining.join(fleet.nowMs)
    await fleet.tend()
  }
  await fleet.commit(UNJOINED.updates, UNJOINED.turns)
  await store.close()
}

// Goal: nodes are restarted and added while the others serve, and a sender notices nothing but a
// 503 that says when to come back. (decisions.md 2, W1, W2)
// Method: senders on every node and a device on one. What got no answer, and what a node on its way
// down answered 503, must have left no trace: nothing that was taken goes without its 200.

import type { ExecutionContext } from 'ava'

import { audit } from '#test/support/audit'
import {
  acceptedMore,
  busy,
  lanesOf,
  loadOn,
  nodeOf,
  refusedForNow,
  startCluster,
  testsWithServers,
} from '#test/support/cluster'
import type { Busy, Cluster, Servers } from '#test/support/cluster'
import type { Outcome } from '#test/support/load'
import { mixedLoad } from '#test/support/mixed-load'
import { seeded } from '#test/support/random'

const CHANNELS = 8
const SENT_BETWEEN = 60

const random = seeded(20_261_122)

const clusterTest = testsWithServers()

interface Scene extends Pick<Busy, 'load' | 'next'> {
  readonly cluster: Cluster
}

/** Changes a cluster of two under load; the audit is the last node's. */
async function underLoad(
  t: ExecutionContext,
  servers: Servers,
  change: (scene: Scene) => Promise<readonly Outcome[]>,
): Promise<void> {
  t.timeout(170_000)
  const cluster = await startCluster(t, servers, 2)
  const { channels, device, load, next } = await busy(t, cluster, {
    channels: CHANNELS,
    next: (of) => mixedLoad(of, random),
    accepted: SENT_BETWEEN,
  })
  const more = await change({ cluster, load, next })
  await acceptedMore(load, SENT_BETWEEN)
  const outcomes = [...(await load.stop()), ...more]
  t.log(countsOf(outcomes))
  refusedForNow(t, outcomes)
  const gateway = nodeOf(cluster, cluster.nodes.length - 1)
  await audit(t, { gateway, channels, outcomes: withoutTrace(outcomes), device })
  for (const node of cluster.nodes) t.is(await node.end('SIGTERM'), 0)
}

/**
 * Leaves out what must not be in any feed, so that the audit finds it if it is: whatever was
 * refused. Only what ended without a word of the log may be in it.
 */
const withoutTrace = (outcomes: readonly Outcome[]): readonly Outcome[] =>
  outcomes.flatMap(({ submission, told }): Outcome[] => {
    if (told.kind === 'accepted') return [{ submission, told }]
    if (told.kind === 'unknown' || told.code !== 'submission_outcome_unknown') return []
    return [{ submission, told: { kind: 'unknown', reason: told.code } }]
  })

function countsOf(outcomes: readonly Outcome[]): string {
  const counts = new Map<string, number>()
  for (const { told } of outcomes) {
    const name =
      told.kind === 'refused' ? told.code : told.kind === 'unknown' ? told.reason : told.kind
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].map(([name, count]) => `${count} ${name}`).join(', ')
}

clusterTest('a rolling upgrade: a node joins and gets lanes, the old ones restart', (t, servers) =>
  underLoad(t, servers, async ({ cluster, load, next }) => {
    const joined = await cluster.join()
    t.log(`${await lanesOf(joined)} lanes moved to the new node`)
    const own = loadOn({ nodes: [joined] }, next)
    t.teardown(() => own.stop())
    await acceptedMore(own, SENT_BETWEEN)
    for (const index of [0, 1]) {
      t.is(await nodeOf(cluster, index).end('SIGTERM'), 0)
      await lanesOf(await cluster.again(index))
      await acceptedMore(load, SENT_BETWEEN)
    }
    return own.stop()
  }),
)

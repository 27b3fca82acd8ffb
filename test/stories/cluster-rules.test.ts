// Goal: a channel with hundreds of rules, or with expressions that need more work than there is for
// a reading, holds up no other channel of its lane, when one node accepts and another owns the
// lane: neither on the owner nor on the node that takes over once it is killed. The acceptor learns
// from the owner how far the rules reach. (W8, announcing/2, work/1, watching/5, R6)
// Method: counted in firings of the owner, not in time, as in rules-burst.test.ts.

import { laneOf } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import { createClient } from '#src/client/client'
import {
  LANES,
  allLanesApplied,
  nodeOf,
  standing,
  startCluster,
  testsWithServers,
} from '#test/support/cluster'
import { createChannels, credentialsOf, makeKeys } from '#test/support/device'
import { figureOf, until } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'
import { FIRINGS, firingsBeforeOthers } from '#test/support/rules-burst'

const clusterTest = testsWithServers()
const RULES = 20
const READINGS = 20
/** Seconds of work for each, if evaluations had no budget. */
const CEL = '[attrs.a + attrs.a + attrs.a].exists(x, (x + x + x + x).contains(attrs.b + attrs.b))'
const ATTRS = { a: 'a'.repeat(10_000), b: `${'a'.repeat(5_000)}b${'a'.repeat(5_000)}` }

const clusterOf = standing(async (file, servers) => {
  const roles = [{ SERVICE_ROLES: 'actors' }, { SERVICE_ROLES: 'ingress' }]
  const cluster = await startCluster(file, servers, roles)
  await allLanesApplied(nodeOf(cluster, 1))
  return cluster
})

/** Two channels of one lane. */
async function neighbours(gateway: Gateway): Promise<readonly [ChannelId, ChannelId]> {
  const channels = await createChannels(gateway, LANES + 1)
  const byLane = Map.groupBy(channels, (id) => laneOf(id, LANES))
  const [one, other] = [...byLane.values()].find(({ length }) => length > 1) ?? []
  if (one === undefined || other === undefined) throw new Error('no two channels share a lane')
  return [one, other]
}

clusterTest(
  'W8: rules that one node applies are charged where another accepts',
  async (t, servers) => {
    const cluster = await clusterOf(servers)
    const [applying, accepting] = [nodeOf(cluster, 0), nodeOf(cluster, 1)]
    const nodes = { accepting, applying }
    const counts = await firingsBeforeOthers(nodes, await neighbours(accepting))
    t.log(`${counts.join(', ')} firings before the updates of another channel`)
    t.true(Math.max(...counts) < FIRINGS / 2, counts.join(', '))
  },
)

clusterTest(
  'R6: hostile expressions of a channel fail alone, on the owner of its lane and on its successor',
  async (t, servers) => {
    const cluster = await clusterOf(servers)
    const [owner, accepting] = [nodeOf(cluster, 0), nodeOf(cluster, 1)]
    const [hostile, other] = await neighbours(accepting)
    await makeKeys(accepting, [hostile, other])
    const { rule, thing, status } = createClient(accepting)
    for (let each = 0; each < RULES; each += 1) {
      const when = { cel: CEL }
      const put = { things: 'all', when, event: { title: 'never' } }
      await rule.put({ ...credentialsOf(hostile), rule_id: `r${each}`, rule: put })
    }
    const update = (channel: ChannelId, at: number, attrs: object) =>
      thing.update({
        ...credentialsOf(channel),
        thing_id: 'a',
        observed_at: at,
        attrs: attrs as never,
      })
    const applied = async (ops: readonly { readonly op_id: string }[]): Promise<void> => {
      for (const { op_id } of ops) {
        await until(
          () => status(op_id),
          (operation) => operation.status === 'sent',
        )
      }
    }
    const failures = (node: Gateway) => figureOf(node, 'heliograph_rule_failures_total')
    const startMs = Date.now()
    const attack = async (first: number) => {
      const ops = []
      for (let each = 0; each < READINGS; each += 1) {
        ops.push(await update(hostile, startMs + first + each, { ...ATTRS, n: first + each }))
      }
      return [...ops, await update(other, startMs + first, { n: first })]
    }
    const ops = await attack(0)
    await until(
      () => failures(owner),
      (count) => count > 0,
    )
    await owner.end('SIGKILL') // Some of them are replayed by its successor.
    const successor = await cluster.join()
    await applied([...ops, ...(await attack(READINGS))])
    t.true((await failures(successor)) > 0)
  },
)

// Goal: expressions that need more work than there is for a reading stop nothing: neither the lane on
// the node that owns it, nor the node that takes over once it is killed. (work/1, watching/5, R6)

import { laneOf } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import { createClient } from '#src/client/client'
import {
  LANES,
  allLanesApplied,
  nodeOf,
  startCluster,
  testsWithServers,
} from '#test/support/cluster'
import { createChannels, credentialsOf, makeKeys } from '#test/support/device'
import { figureOf, until } from '#test/support/gateway'

const clusterTest = testsWithServers()
const RULES = 20
const READINGS = 20
/** Seconds of work for each, if evaluations had no budget. */
const CEL = '[attrs.a + attrs.a + attrs.a].exists(x, (x + x + x + x).contains(attrs.b + attrs.b))'
const ATTRS = { a: 'a'.repeat(10_000), b: `${'a'.repeat(5_000)}b${'a'.repeat(5_000)}` }

clusterTest(
  'R6: hostile expressions of a channel fail alone, on the owner of its lane and on its successor',
  async (t, servers) => {
    const roles = [{ SERVICE_ROLES: 'actors' }, {}]
    const cluster = await startCluster(t, servers, roles)
    const accepting = nodeOf(cluster, 1)
    await allLanesApplied(accepting)
    const channels = await createChannels(accepting, LANES + 1)
    const byLane = Map.groupBy(channels, (id) => laneOf(id, LANES))
    const shared = [...byLane.values()].find(({ length }) => length > 1) ?? []
    const [hostile = '' as ChannelId, other = '' as ChannelId] = shared
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
    const startMs = Date.now()
    const attack = async (first: number) => {
      const ops = []
      for (let each = 0; each < READINGS; each += 1) {
        ops.push(await update(hostile, startMs + first + each, { ...ATTRS, n: first + each }))
      }
      return [...ops, await update(other, startMs + first, { n: first })]
    }
    const ops = await attack(0)
    await nodeOf(cluster, 0).end('SIGKILL') // Some of them are replayed by its successor.
    await applied([...ops, ...(await attack(READINGS))])
    t.true((await figureOf(accepting, 'heliograph_rule_failures_total')) > 0)
  },
)

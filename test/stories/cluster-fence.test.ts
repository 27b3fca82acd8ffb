// Goal: an owner of lanes that hangs in the middle of a turn and wakes up when others have its
// lanes writes nothing any more and says so, and nobody waits for it. (W2, owned-lanes/1, mysql/5)
// Method: the way to the database is frozen at a chosen statement of a turn, then the process is
// stopped; when others have served every lane both go on.

import { setTimeout as delay } from 'node:timers/promises'

import type { ExecutionContext } from 'ava'

import type { ChannelId } from '#domain/identity'
import { TEST_MS } from '#test/support/bounds'
import {
  acceptedMore,
  lanesOf,
  loaded,
  nodeOf,
  startCluster,
  testsWithServers,
  throughEveryLane,
  workplace,
} from '#test/support/cluster'
import type { Servers } from '#test/support/cluster'
import type { Gateway } from '#test/support/gateway'
import { figureOf, until } from '#test/support/gateway'
import { mixedLoad } from '#test/support/mixed-load'
import { seeded } from '#test/support/random'
import { Relay } from '#test/support/relay'
import { standing } from '#test/support/standing'

const CHANNELS = 10
const FENCED = 'lane lost: another process applies it'

const random = seeded(20_261_123)

const clusterTest = testsWithServers()

interface Hang {
  /** The process is stopped when it has sent all but the last of these, and sends that. */
  readonly at: readonly RegExp[]
  /** At least; it wakes up when others have served every lane. */
  readonly forMs: number
  /** Turns that ended in a failure: a turn that is fenced has not failed. */
  readonly failedTurns: number
}

const everything = standing(async (file, servers: Servers) => {
  const relay = await Relay.open(file, servers.mariaDb.port)
  const behindRelay = {
    SERVICE_DATABASE_URL: servers.databaseUrl.replace(/:\d+\//, `:${relay.port}/`),
  }
  const cluster = await startCluster(file, servers, [{}, behindRelay])
  const [well, hanging] = [nodeOf(cluster, 0), nodeOf(cluster, 1)]
  const next = (of: readonly ChannelId[]) => mixedLoad(of, random)
  const place = await workplace(file, { nodes: [well] }, { channels: CHANNELS, next })
  return { relay, well, hanging, place }
})

/** How often the node has said that it is fenced, and how many of its turns have failed. */
async function endedTurns(node: Gateway): Promise<{ fenced: number; failed: number }> {
  return {
    fenced: node.lines.filter(({ fact }) => fact === FENCED).length,
    failed: await figureOf(node, 'heliograph_turns_retried_total'),
  }
}

async function hangs(t: ExecutionContext, servers: Servers, hang: Hang): Promise<void> {
  t.timeout(TEST_MS)
  const { relay, well, hanging, place } = await everything(servers)
  await lanesOf(hanging)
  const { channels, load, audited } = await loaded(t, { nodes: [well] }, place, 50)
  const before = await endedTurns(hanging)

  const awaited = [...hang.at]
  await relay.holdAt((bytes) => {
    if (awaited[0]?.test(bytes.toString('latin1')) === true) awaited.shift()
    return awaited.length === 0
  })
  hanging.process.kill('SIGSTOP')
  const stopped = performance.now()
  // The locks of a hanging transaction end while it hangs. (mysql/5)
  const sent = await throughEveryLane(well, channels)
  const servedMs = performance.now() - stopped
  t.log(`every lane was served again after ${Math.round(servedMs)} ms`)
  await delay(Math.max(0, hang.forMs - servedMs))
  relay.thaw()
  hanging.process.kill('SIGCONT')
  const after = await until(
    () => endedTurns(hanging),
    ({ fenced }) => fenced > before.fenced,
  )
  t.is(after.failed - before.failed, hang.failedTurns)

  await acceptedMore(load, 50)
  await audited(hanging, sent)
}

/**
 * An execution with four whole numbers, of which the first in a turn moves a lane; what maintenance
 * and deadlines ask for meanwhile is no turn. Its length, its command, and their types.
 */
const MOVE = /^\x34\0\0\0\x17[^]{4}\0\x01\0\0\0\0\x01(?:\x08\0){4}/

clusterTest('an owner that hangs before its commit is fenced by the commit', (t, servers) =>
  hangs(t, servers, { at: [MOVE], forMs: 0, failedTurns: 0 }),
)

clusterTest('an owner that hangs for long with its lanes locked holds nobody up', (t, servers) =>
  hangs(t, servers, { at: [MOVE, /COMMIT$/], forMs: 10_000, failedTurns: 1 }),
)

clusterTest('nodes of which one was fenced stop as they are told to', async (t, servers) => {
  const { well, hanging } = await everything(servers)
  for (const node of [well, hanging]) t.is(await node.end('SIGTERM'), 0)
})

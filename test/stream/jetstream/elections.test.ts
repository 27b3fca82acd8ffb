// Goal: whichever server leads the log, every answer is true and a lane keeps its order.

import type { ExecutionContext } from 'ava'

import type { NatsServer } from '#src/dev/servers/nats'
import type { JetStreamLog } from '#src/stream/jetstream/log'
import { appended, batchOf, idsOf } from '#test/contracts/log-contract'
import { until } from '#test/support/gateway'
import { connectNode, openLog, ownStream, testsWithNats } from '#test/support/nats'

const testWithNats = testsWithNats({ servers: 3 })
const COUNT = 80

interface Answered {
  readonly id: string
  readonly kind: string
}

/** Appends many large batches at once; gives the answers in the order of the appends. */
const flood = (log: JetStreamLog): readonly Promise<Answered>[] =>
  Array.from({ length: COUNT }, async (_, number) => {
    const id = `n${number}`
    const { kind } = await log.append(batchOf(1, [id], 'x'.repeat(60_000)))
    return { id, kind }
  })

async function leaderOf(log: JetStreamLog, servers: readonly NatsServer[]): Promise<NatsServer> {
  const { cluster } = await log.stream.manager.streams.info(log.stream.name)
  const leader = servers[Number(cluster?.leader?.slice(1))]
  if (leader === undefined) throw new Error(`no server leads: ${cluster?.leader}`)
  return leader
}

const numberOf = (id: string): number => Number(id.slice(1))

for (const [what, stop, resume] of [
  ['dies', 'SIGKILL', undefined],
  ['hangs and comes back', 'SIGSTOP', 'SIGCONT'],
] as const) {
  testWithNats(
    `lane-writer/2: batches of a lane keep their order when the leading server ${what}`,
    async (t, servers) => {
      const log = await openReplicated(t, servers)
      await appended(log, batchOf(1, ['n-1']))
      const leader = await leaderOf(log, servers)
      const outcomes = flood(log)
      await outcomes[5]
      await leader.kill(stop)
      const answers = await Promise.all(outcomes)
      if (resume === undefined) await leader.restart()
      else await leader.kill(resume)
      await until(
        () => log.append(batchOf(1, [`n${COUNT}`])),
        ({ kind }) => kind === 'appended',
        30_000,
      )
      const has = (kind: string) => answers.filter((one) => one.kind === kind).map(({ id }) => id)
      t.log(`${has('appended').length} appended, ${has('unknown').length} unknown`)
      const ids = await until(
        async () => idsOf(await log.read(1, 0, 2 * COUNT)),
        (read) => read.includes(`n${COUNT}`),
      )
      t.deepEqual(
        ids,
        ids.toSorted((a, b) => numberOf(a) - numberOf(b)),
      )
      t.is(new Set(ids).size, ids.length)
      for (const id of has('appended')) t.true(ids.includes(id), `${id} was appended`)
      for (const id of has('refused')) t.false(ids.includes(id), `${id} was refused`)
    },
  )
}

async function openReplicated(
  t: ExecutionContext,
  servers: readonly NatsServer[],
): Promise<JetStreamLog> {
  const node = await connectNode(t, servers.map(({ url }) => url).join(','))
  return openLog(t, node, { ...ownStream(), replicas: 3 })
}

// A cluster as an operator runs it: node processes over one nats-server and one MariaDB.

import { setTimeout as delay } from 'node:timers/promises'

import type { ExecutionContext } from 'ava'

import type { ChannelId } from '#domain/identity'
import { createClient } from '#src/client/client'
import { reservePort } from '#src/dev/servers/port'
import { audit } from '#test/support/audit'
import type { Servers } from '#test/support/cluster-servers'
import { createChannels, credentialsOf, makeKeys, watchingDevice } from '#test/support/device'
import type { TestDevice } from '#test/support/device'
import { startGateway, temporaryFolder, until } from '#test/support/gateway'
import type { Gateway, Owner } from '#test/support/gateway'
import { drive, sender } from '#test/support/load'
import type { Outcome, Sender, Submission, Told } from '#test/support/load'

export { testsWithServers } from '#test/support/cluster-servers'
export type { Servers } from '#test/support/cluster-servers'

/** Few lanes, so that a few channels cover all of them. */
export const LANES = 6

type Environment = Readonly<Record<string, string>>

export interface Cluster {
  /** The nodes that run now. */
  readonly nodes: readonly Gateway[]
  /** Starts a node that has ended again, on its port and under its name. */
  again(index: number, more?: Environment): Promise<Gateway>
  /** Starts one more node. */
  join(): Promise<Gateway>
}

/** Starts so many nodes, or one for each of the environments. */
export async function startCluster(
  t: Owner,
  { nats, databaseUrl }: Servers,
  asked: number | readonly Environment[],
): Promise<Cluster> {
  const environments: readonly Environment[] =
    typeof asked === 'number' ? Array.from({ length: asked }, () => ({})) : asked
  const directory = await temporaryFolder(t)
  const shared = {
    SERVICE_NATS_URL: nats.url,
    SERVICE_DATABASE_URL: databaseUrl,
    SERVICE_LANES: String(LANES),
  }
  const ports: number[] = []
  const place = async (): Promise<number> => {
    const reserved = await reservePort()
    t.teardown(reserved.release)
    return ports.push(reserved.port) - 1
  }
  for (let count = 0; count < environments.length; count += 1) await place()
  const start = (index: number, more: Environment = {}): Promise<Gateway> => {
    const own = {
      SERVICE_NODE_ID: `node${index}`,
      SERVICE_HTTP_ADDR: `127.0.0.1:${ports[index]}`,
    }
    return startGateway(t, {
      directory,
      env: { ...shared, ...own, ...environments[index], ...more },
    })
  }
  const nodes = await Promise.all(ports.map((_, index) => start(index)))
  const again = async (index: number, more?: Environment): Promise<Gateway> =>
    (nodes[index] = await start(index, more))
  return { nodes, again, join: async () => again(await place()) }
}

/** A node by its number; it must be there. */
export function nodeOf({ nodes }: Pick<Cluster, 'nodes'>, index: number): Gateway {
  const node = nodes[index]
  if (node === undefined) throw new Error(`there is no node ${index}`)
  return node
}

/** Waits until every lane has an owner. */
export async function allLanesApplied({ baseUrl, token }: Gateway): Promise<void> {
  const headers = { authorization: `Bearer ${token}` }
  await until(
    async () => (await fetch(`${baseUrl}/readyz`, { headers })).text(),
    (text) => text.includes(`"${LANES} of ${LANES} applied"`),
  )
}

/** Waits until a node owns lanes; gives their number. */
export const lanesOf = ({ lines }: Gateway): Promise<number> =>
  until(
    () => {
      const last = lines.findLast(({ fact }) => fact === 'the lanes of this process changed')
      return Promise.resolve(Array.isArray(last?.['lanes']) ? last['lanes'].length : 0)
    },
    (count) => count > 0,
  )

export interface Load {
  /** Ends the load; gives the outcomes of every sender. */
  stop(): Promise<readonly Outcome[]>
  /** The number of accepted submissions so far. */
  readonly accepted: () => number
  /** The number of submissions refused so far because the log was full or away. */
  readonly notAccepted: () => number
}

const WIDTH = 2
const OUTCOME_UNKNOWN = 'submission_outcome_unknown'
const PAUSE_MS = 100
const PAUSE_AFTER_TROUBLE_MS = 100

/**
 * Senders on every node, each with a few requests under way, until stopped. `pauseMs`: after each
 * submission that was accepted.
 */
export function loadOn(
  { nodes }: Pick<Cluster, 'nodes'>,
  next: () => Submission,
  pauseMs = PAUSE_MS,
): Load {
  let isOver = false
  let accepted = 0
  let notAccepted = 0
  const calm = (submitting: Sender): Pick<Sender, 'send'> => ({
    send: async (submission): Promise<Told> => {
      const told = await submitting.send(submission)
      if (told.kind === 'accepted') accepted += 1
      if (told.kind === 'refused' && told.code === 'submission_not_accepted') notAccepted += 1
      await delay(told.kind === 'accepted' ? pauseMs : PAUSE_AFTER_TROUBLE_MS)
      return told
    },
  })
  const driven = nodes.map(async ({ baseUrl, token }) => {
    const submitting = sender(baseUrl, token, WIDTH)
    const outcomes = await drive(calm(submitting), WIDTH, () => (isOver ? undefined : next()))
    submitting.close()
    return outcomes
  })
  return {
    stop: async () => {
      isOver = true
      return (await Promise.all(driven)).flat()
    },
    accepted: () => accepted,
    notAccepted: () => notAccepted,
  }
}

/** Waits until so many more were accepted. */
export function acceptedMore({ accepted }: Pick<Load, 'accepted'>, count: number): Promise<number> {
  const goal = accepted() + count
  return until(
    () => Promise.resolve(accepted()),
    (sum) => sum >= goal,
  )
}

/**
 * Checks that every refusal is temporary and tells when to come back, except an unknown outcome.
 * (decisions.md 2)
 */
function refusedForNow(t: ExecutionContext, outcomes: readonly Outcome[]): void {
  const answers = outcomes.flatMap(({ told }) =>
    told.kind === 'refused' && told.code !== OUTCOME_UNKNOWN
      ? [`${told.status} Retry-After: ${told.retryAfter}`]
      : [],
  )
  const others = answers.filter((answer) => !/^503 Retry-After: [1-9]\d*$/.test(answer))
  t.deepEqual([...new Set(others)], [], 'nobody is refused but for now, and told when to come back')
}

/**
 * The outcomes for the audit: refused submissions are nowhere, and those of unknown outcome may be
 * in the log.
 */
const asEvidence = (outcomes: readonly Outcome[]): readonly Outcome[] =>
  outcomes.map(({ submission, told }) => ({
    submission,
    told:
      told.kind === 'refused' && told.code === OUTCOME_UNKNOWN
        ? { kind: 'unknown', reason: told.code }
        : told,
  }))

/** Channels that every node can be sent for, a device that watches them, and what was sent. */
export interface Workplace {
  readonly channels: readonly ChannelId[]
  readonly device: TestDevice
  /** One source of submissions for all: each has its effect once, whoever sends it. */
  readonly next: () => Submission
  readonly pauseMs: number | undefined
  /** The outcomes of all loads that have ended. */
  readonly outcomes: Outcome[]
  /** The operations that an audit has seen sent. */
  readonly seen: Set<string>
}

interface Work {
  readonly channels: number
  readonly next: (channels: readonly ChannelId[]) => () => Submission
  /** Milliseconds between two submissions of a sender; absent for the usual pause. */
  readonly pauseMs?: number
  /** Resolves once so many submissions were accepted. */
  readonly accepted: number
}

/** Makes a workplace for one test, or for the tests of a file one after the other. */
export async function workplace(
  t: Owner,
  cluster: Pick<Cluster, 'nodes'>,
  work: Pick<Work, 'channels' | 'next' | 'pauseMs'>,
): Promise<Workplace> {
  const first = nodeOf(cluster, 0)
  await allLanesApplied(first)
  const channels = await createChannels(first, work.channels)
  await makeKeys(first, channels)
  const device = await watchingDevice(t, first, channels)
  const { pauseMs } = work
  return { channels, device, next: work.next(channels), pauseMs, outcomes: [], seen: new Set() }
}

/** A cluster at work: senders on some nodes of it. */
export interface Busy extends Pick<Workplace, 'channels' | 'device' | 'next'> {
  readonly load: Load
  /** Ends the load, and audits at a node what was answered, with what a test has sent itself. */
  readonly audited: (gateway: Gateway, sent?: readonly Outcome[]) => Promise<void>
}

/** Puts the load of one test on nodes whose lanes all have an owner. */
export async function busy(
  t: ExecutionContext,
  { nodes }: Pick<Cluster, 'nodes'>,
  work: Work,
): Promise<Busy> {
  return loaded(t, { nodes }, await workplace(t, { nodes }, work), work.accepted)
}

/** Puts a load on a workplace; resolves once so many submissions were accepted. */
export async function loaded(
  t: ExecutionContext,
  { nodes }: Pick<Cluster, 'nodes'>,
  { channels, device, next, pauseMs, outcomes, seen }: Workplace,
  accepted: number,
): Promise<Busy> {
  await allLanesApplied(nodeOf({ nodes }, 0))
  const load = loadOn({ nodes }, next, pauseMs)
  t.teardown(() => load.stop())
  await acceptedMore(load, accepted)
  return {
    channels,
    device,
    load,
    next,
    audited: async (gateway, sent = []) => {
      outcomes.push(...(await load.stop()), ...sent)
      refusedForNow(t, outcomes)
      await audit(t, { gateway, channels, outcomes: asEvidence(outcomes), device, sent: seen })
    },
  }
}

/** Sends one Message to each channel; resolves when all of them were applied. */
export function throughEveryLane(
  gateway: Gateway,
  channels: readonly ChannelId[],
): Promise<readonly Outcome[]> {
  const client = createClient(gateway)
  return Promise.all(
    channels.map(async (channelId) => {
      const body = { ...credentialsOf(channelId), title: 'still there?' }
      const { op_id: opId } = await client.message.send(body)
      await until(
        () => client.status(opId),
        ({ status }) => status === 'sent',
      )
      return { submission: { path: '/message', body }, told: { kind: 'accepted', opId } }
    }),
  )
}

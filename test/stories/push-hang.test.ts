// Goal: a provider that hangs is nobody else's trouble.
// Method: the same load twice, once while Apple answers and once while it takes every push and says
// nothing; acceptance, private delivery and Google's pushes keep their latency.

import test from 'ava'

import type { ChannelId } from '#domain/identity'
import { createClient } from '#src/client/client'
import type { PushServers } from '#src/dev-servers/push/push-servers'
import { PASSWORD, createChannels, watchingDevice } from '#test/support/device'
import type { TestDevice } from '#test/support/device'
import { until } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'
import { addDevice, pushServers, startPushGateway } from '#test/support/push-gateway'

const MESSAGES = 200
const PAUSE_MS = 10
/** What a busy machine adds to the slowest of two hundred. */
const ALLOWANCE_MS = 250

interface Latencies {
  readonly accepted: number
  readonly delivered: number
  readonly pushed: number
}

test('while Apple hangs, acceptance, private delivery and Google keep their latency', async (t) => {
  t.timeout(120_000)
  const servers = await pushServers(t)
  const gateway = await startPushGateway(t, servers)
  const [channelId] = await createChannels(gateway, 1)
  if (channelId === undefined) return t.fail('a channel')
  const device = await watchingDevice(t, gateway, [channelId])
  for (let number = 1; number <= 8; number += 1) {
    await addDevice(gateway, [channelId], { kind: number % 2 === 0 ? 'apns' : 'fcm', number })
  }
  const bench = { gateway, channelId, device, servers }
  await measure(bench, 'warm')
  const alone = await measure(bench, 'alone')
  servers.apns.standIn.latency = 'hang'
  const beside = await measure(bench, 'beside')
  t.log(JSON.stringify({ alone, beside }))
  for (const name of ['accepted', 'delivered', 'pushed'] as const) {
    t.true(beside[name] <= alone[name] * 2 + ALLOWANCE_MS, name)
  }
  t.true(servers.apns.requests > 0)
  servers.apns.standIn.latency = 0
  return undefined
})

interface Bench {
  readonly gateway: Gateway
  readonly channelId: ChannelId
  readonly device: TestDevice
  readonly servers: PushServers
}

/** The 99th of a hundred, in milliseconds. */
async function measure(
  { gateway, channelId, device, servers }: Bench,
  run: string,
): Promise<Latencies> {
  const client = createClient(gateway)
  const sentAt = new Map<string, number>()
  const pushedAt = new Map<string, number>()
  servers.fcm.taken = ({ data }) => {
    const { title = '' } = data
    if (!pushedAt.has(title)) pushedAt.set(title, performance.now())
  }
  const accepted: number[] = []
  const delivered: number[] = []
  const seenBefore = device.seen.get(channelId)?.length ?? 0
  for (let number = 0; number < MESSAGES; number += 1) {
    const title = `${run} ${number}`
    const atMs = performance.now()
    sentAt.set(title, atMs)
    await client.message.send({ channel_id: channelId, password: PASSWORD, title })
    accepted.push(performance.now() - atMs)
    await until(
      () => Promise.resolve(device.seen.get(channelId)?.length ?? 0),
      (seen) => seen >= seenBefore + number + 1,
    )
    delivered.push(performance.now() - atMs)
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  await until(
    () => Promise.resolve(pushedAt.size),
    (pushed) => pushed >= MESSAGES,
    30_000,
  )
  const pushed = [...sentAt].map(([title, atMs]) => (pushedAt.get(title) ?? Infinity) - atMs)
  return { accepted: p99(accepted), delivered: p99(delivered), pushed: p99(pushed) }
}

const p99 = (values: readonly number[]): number =>
  Math.round(values.toSorted((one, other) => one - other)[Math.floor(values.length * 0.99)] ?? 0)

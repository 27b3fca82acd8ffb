// Goal: a provider that hangs is nobody else's trouble.
// Method: the same load in turn while Apple answers and while it takes every push and says
// nothing; acceptance, private delivery and Google's pushes keep their latency.

import test from 'ava'

import type { ChannelId } from '#domain/identity'
import { createClient } from '#src/client/client'
import type { PushServers } from '#src/dev/servers/push/push-servers'
import { TEST_MS } from '#test/support/bounds'
import { PASSWORD, createChannels, watchingDevice } from '#test/support/device'
import type { TestDevice } from '#test/support/device'
import { until } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'
import { addDevice, pushServers, startPushGateway } from '#test/support/push-gateway'

const MESSAGES = 60
const PAUSE_MS = 10
/** Milliseconds that a busy machine adds to nine in ten. */
const ALLOWANCE_MS = 100
/** A machine that is busy with something else meanwhile spoils a comparison, not all of them. */
const COMPARISONS_MAX = 3

interface Latencies {
  readonly accepted: number
  readonly delivered: number
  readonly pushed: number
}

test('while Apple hangs, acceptance, private delivery and Google keep their latency', async (t) => {
  t.timeout(TEST_MS)
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
  let tellings: readonly string[] = []
  for (let count = 1; count <= COMPARISONS_MAX; count += 1) {
    servers.apns.standIn.latency = 0
    const alone = await measure(bench, `alone ${count}`)
    servers.apns.standIn.latency = 'hang'
    const beside = await measure(bench, `beside ${count}`)
    t.log(JSON.stringify({ alone, beside }))
    tellings = WHAT.filter((name) => beside[name] > alone[name] * 2 + ALLOWANCE_MS)
    if (tellings.length === 0) break
  }
  t.deepEqual(tellings, [], 'what became slower')
  t.true(servers.apns.requests > 0)
  servers.apns.standIn.latency = 0
  return undefined
})

const WHAT = ['accepted', 'delivered', 'pushed'] as const

interface Bench {
  readonly gateway: Gateway
  readonly channelId: ChannelId
  readonly device: TestDevice
  readonly servers: PushServers
}

/** Nine in ten were faster, in milliseconds. */
async function measure(
  { gateway, channelId, device, servers }: Bench,
  run: string,
): Promise<Latencies> {
  const client = createClient(gateway)
  const sentAt = new Map<string, number>()
  const pushedAt = new Map<string, number>()
  servers.fcm.taken = ({ data }) => {
    const { title = '' } = data
    if (sentAt.has(title) && !pushedAt.has(title)) pushedAt.set(title, performance.now())
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
  )
  const pushed = [...sentAt].map(([title, atMs]) => (pushedAt.get(title) ?? Infinity) - atMs)
  return { accepted: p90(accepted), delivered: p90(delivered), pushed: p90(pushed) }
}

const p90 = (values: readonly number[]): number =>
  Math.round(values.toSorted((one, other) => one - other)[Math.floor(values.length * 0.9)] ?? 0)

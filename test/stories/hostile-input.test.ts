// Goal: no body, whatever it holds, gives a 5xx, ends the process or leaves half of something
// behind. Method: 10,000 random bodies (JSON values, JSON that is almost a submission, bytes that
// are not JSON) over real sockets to every route that takes a body; then the gateway holds exactly
// what it answered 200.

import * as fc from 'fast-check'
import test from 'ava'
import type { ExecutionContext } from 'ava'

import { TEST_MS } from '#test/support/bounds'
import { createChannels, PASSWORD } from '#test/support/device'
import { get, startGateway, until } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'
import type { ChannelId } from '#domain/identity'
import { createClient } from '#src/client/client'
import { historyOf } from '#test/support/audit'

const BODIES = 10_000
const WIDTH = 50

const ROUTES = [
  '/message',
  '/event/create',
  '/event/update',
  '/event/close',
  '/thing/t1/event/update',
  '/thing/create',
  '/thing/update',
  '/thing/archive',
  '/thing/delete',
  '/channel/history',
  '/channel/sync',
  '/channel/device',
  '/device/register',
  '/messages/pull',
  '/messages/ack',
  '/thing/list',
] as const

const NAMES = [
  'title',
  'body',
  'thing_id',
  'event_id',
  'op_id',
  'observed_at',
  'event_time',
  'occurred_at',
  'ttl',
  'attrs',
  'metadata',
  'tags',
  'images',
  'external_ids',
  'severity',
  'state',
  'deleted_at',
  'device_key',
  'delivery_ids',
  'channels',
  'limit',
  'cursor',
] as const

/** A value that a field might hold, or might not. */
const value = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 70 }),
  fc.integer({ min: 0, max: 2_000_000_000_000 }),
  fc.double(),
  fc.constantFrom(null, true, '', ' ', '__proto__', '1e400', [], {}, 'sensor-1'),
  fc.jsonValue({ maxDepth: 3 }),
  fc.dictionary(fc.constantFrom('__proto__', 'constructor', 'a', 'b '), fc.jsonValue()),
)

function bodies(channel_id: string): fc.Arbitrary<Uint8Array> {
  const encode = (body: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(body) ?? '')
  const almost = fc
    .dictionary(fc.constantFrom(...NAMES), value, { maxKeys: 6 })
    .map((fields) => encode({ channel_id, password: PASSWORD, ...fields }))
  const good = { title: 'x', observed_at: 1_790_000_000, event_time: '1790000000', event_id: 'e1' }
  const spoilt = fc
    .dictionary(fc.constantFrom(...NAMES), value, { maxKeys: 2 })
    .map((fields) => encode({ channel_id, password: PASSWORD, thing_id: 't1', ...good, ...fields }))
  return fc.oneof(
    { weight: 4, arbitrary: spoilt },
    { weight: 4, arbitrary: almost },
    { weight: 2, arbitrary: fc.jsonValue().map(encode) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }) },
  )
}

interface Tried {
  readonly path: string
  readonly status: number
  readonly opId: string | undefined
}

test('10,000 random bodies get a proper answer each and leave nothing half-done', async (t) => {
  t.timeout(TEST_MS)
  const gateway = await startGateway(t)
  const [channelId] = await createChannels(gateway, 1)
  if (channelId === undefined) throw new Error('no channel')
  const samples = fc.sample(fc.tuple(fc.constantFrom(...ROUTES), bodies(channelId)), {
    numRuns: BODIES,
    seed: 42,
  })
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${gateway.token}`,
  }
  const tried: Tried[] = []
  const work = async (): Promise<void> => {
    for (let sample = samples.pop(); sample !== undefined; sample = samples.pop()) {
      const [path, body] = sample
      const response = await fetch(gateway.baseUrl + path, {
        method: 'POST',
        headers,
        body: Buffer.from(body),
      })
      const answer = (await response.json()) as { readonly data?: { readonly op_id?: string } }
      tried.push({ path, status: response.status, opId: answer.data?.op_id })
    }
  }
  await Promise.all(Array.from({ length: WIDTH }, work))

  t.deepEqual(
    tried.filter(({ status }) => status >= 500),
    [],
  )
  t.is(tried.length, BODIES)
  t.is(gateway.process.exitCode, null, 'the process lives')
  await holdsExactly(t, { gateway, channelId, tried })
})

async function holdsExactly(
  t: ExecutionContext,
  {
    gateway,
    channelId,
    tried,
  }: {
    readonly gateway: Gateway
    readonly channelId: ChannelId
    readonly tried: readonly Tried[]
  },
): Promise<void> {
  const accepted = new Set(tried.flatMap(({ opId }) => opId ?? []))
  t.true(accepted.size > 100, 'some of the bodies were good')
  for (const opId of accepted) {
    await until(
      () => get(gateway, `/send_status/${opId}`),
      ({ body }) => body.data['status'] === 'sent' || body.data['status'] === 'failed',
    )
  }
  const history = await historyOf(createClient(gateway), channelId)
  const unexplained = history.filter(({ op_id }) => !accepted.has(op_id))
  t.deepEqual(unexplained, [], 'nothing is in the feed that was not answered 200')
}

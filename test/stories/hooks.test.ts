// Goal: what monitoring tools post to a gateway that runs is to be seen as Events and Messages, once.
// Method: a real process with a gateway token; the payloads of each tool over HTTP, with a key alone.

import test from 'ava'

import { recordOf } from '#domain/record'
import { createClient } from '#src/client/client'
import { TEST_MS } from '#test/support/bounds'
import { createChannels, PASSWORD } from '#test/support/device'
import { until } from '#test/support/gateway'
import * as from from '#test/support/hook-payloads'
import type { HookPayload } from '#test/support/hook-payloads'
import { standingGateway } from '#test/support/standing'

const START = Date.parse('2025-11-20T07:00:00Z')
const HOUR = 3_600_000

const titleOf = ({ payload }: { readonly payload: unknown }): unknown =>
  recordOf(payload)?.['title']

test('each tool opens an Event, repeats change nothing, and its end closes the Event', async (t) => {
  t.timeout(TEST_MS)
  const gateway = await standingGateway()
  const [channel_id = ''] = await createChannels(gateway, 1)
  const channel = { channel_id, password: PASSWORD }
  const client = createClient(gateway)
  const { key } = await client.key.create({ ...channel, scopes: ['send'] })
  const post = async ({ kind, body, headers }: HookPayload): Promise<void> => {
    const { status } = await fetch(`${gateway.baseUrl}/hook/${kind}/${key}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    t.is(status, 200, kind)
  }
  /** The Events in a state once there are so many, by their ids. */
  const reach = async (state: 'open' | 'closed', count: number) => {
    const list = async () => (await client.event.list({ ...channel, state, limit: 100 })).items
    const events = await until(list, ({ length }) => length === count)
    return new Map(events.map((event) => [event.event_id, event]))
  }
  /** The number of entries, once the Message that is sent now is the newest. */
  const entries = async (title: string): Promise<number> => {
    await client.message.send({ ...channel, title })
    const read = async () => (await client.channel.history({ ...channel, limit: 100 })).items
    const items = await until(read, (all) => all.some((one) => titleOf(one) === title))
    return items.length
  }

  // Alertmanager and Grafana would know the same alarm by the same fingerprint, but for their names.
  const alarms = Object.values(from.ALARMS)
  for (const [firing] of alarms) await post(firing)
  const open = await reach('open', alarms.length)
  for (const { event_time, status } of open.values()) {
    t.is(status, 'firing')
    t.true(event_time >= START && event_time < START + HOUR)
  }
  const before = await entries('before the repeats')
  for (const [firing] of [...alarms, ...alarms]) await post(firing)
  t.is(await entries('after the repeats'), before + 1)

  for (const [, resolved] of alarms) await post(resolved)
  const closed = await reach('closed', alarms.length)
  t.deepEqual([...closed.keys()].toSorted(), [...open.keys()].toSorted())
  t.true([...closed.values()].every(({ status }) => status === 'resolved'))
  const ended = await entries('before the late ones')
  for (const payloads of alarms) for (const payload of payloads) await post(payload)
  t.is(await entries('after the late ones'), ended + 1)

  await post(from.push({}))
  await post(from.push({}))
  await entries('after the pushes')
  const { items } = await client.channel.history({ ...channel, model: 'message', limit: 100 })
  t.is(items.filter((one) => titleOf(one) === 'o/r: Fix it').length, 1)

  await post(from.uptimeKuma({ time: '2025-11-20 08:00:00.000' }))
  const [again] = [...(await reach('open', 1)).values()]
  t.like(again, { title: 'Prod / API', event_time: START + HOUR })
  t.false(closed.has(again?.event_id ?? ''))
  const lines = JSON.stringify(gateway.lines)
  t.false(lines.includes(key))
})

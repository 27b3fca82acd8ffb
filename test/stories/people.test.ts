// Goal: an Event is reminded of and escalated until somebody has it, each number once, though the
// owner is killed between two reminders and nothing runs for ten minutes; a stream of the topic
// style tells it as one notification. (R3, R7, reminding/2)
// Method: real processes over one directory, one after the other, each with a clock that is further
// ahead.

import test from 'ava'

import { createClient } from '#src/client/client'
import { TEST_MS } from '#test/support/bounds'
import { createChannels, PASSWORD } from '#test/support/device'
import { freePort } from '#test/support/free-port'
import { aheadBy, startGateway, temporaryFolder, until } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'

const MINUTE = 60_000
/** Before the time of a deadline at which a process starts. */
const BEFORE = 1_000

type Told = Readonly<Record<string, unknown>>

/** Subscribes to a channel in the form of the topic style; `query` says from where, and for how long. */
const subscribe = ({ baseUrl, token }: Gateway, channelId: string, query: string) =>
  fetch(`${baseUrl}/compat-topic/${channelId}:${encodeURIComponent(PASSWORD)}/json?${query}`, {
    headers: { authorization: `Bearer ${token}` },
  })

/** The whole lines of a text, as messages. */
const messagesIn = (text: string): readonly Told[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Told)

/** The first reminder that a stream brings; its end ends the stream. */
async function firstReminder({ body }: Response): Promise<Told | undefined> {
  let text = ''
  for await (const more of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += more
    const isReminder = ({ message }: Told): boolean => String(message).startsWith('Reminder')
    const reminder = messagesIn(text).find(isReminder)
    if (reminder !== undefined) return reminder
  }
  return undefined
}

test('reminding/2: each reminder comes once through kill -9, and a stop of ten minutes brings one', async (t) => {
  t.timeout(TEST_MS)
  const directory = await temporaryFolder(t)
  const address = { SERVICE_HTTP_ADDR: `127.0.0.1:${await freePort(t)}` }
  const start = (aheadMs: number) =>
    startGateway(t, { directory, env: { ...address, ...aheadBy(aheadMs) } })
  let gateway = await start(0)
  const [channel_id = ''] = await createChannels(gateway, 1)
  const channel = { channel_id, password: PASSWORD }
  const { event, ...client } = createClient(gateway)
  const entries = async () =>
    (await client.channel.history({ ...channel, model: 'event', limit: 200 })).items
  /** The entries once there are so many: action, number or level, and when. */
  const reach = async (count: number) => {
    const found = await until(entries, ({ length }) => length === count)
    return found.map(({ action, payload: { reminders, level }, accepted_at: at }) => ({
      said: [action, reminders ?? level]
        .filter((one) => one !== undefined)
        .map(String)
        .join(' '),
      at,
    }))
  }
  const saidBy = (found: readonly { readonly said: string }[]) => found.map(({ said }) => said)

  const { event_id } = await event.create({
    ...channel,
    title: 'too warm',
    severity: 'normal',
    event_time: Date.now(),
    remind_every: '1m',
    escalate: [{ after: '15m', level: 2, severity: 'critical' }],
  })
  const [created] = await reach(1)
  let ahead = MINUTE - BEFORE
  await gateway.end('SIGKILL')
  gateway = await start(ahead)
  const stream = await subscribe(gateway, channel_id, 'since=all')
  const [, first] = await reach(2)
  const notification = { title: 'too warm', sequence_id: event_id }
  t.like(await firstReminder(stream), { ...notification, message: 'Reminder 1' })
  t.true(Number(first?.at) >= Number(created?.at) + MINUTE)
  await gateway.end('SIGKILL')

  gateway = await start((ahead += MINUTE))
  await reach(3)
  await gateway.end('SIGKILL')
  gateway = await start((ahead += 10 * MINUTE))
  t.deepEqual(saidBy(await reach(4)), ['create', 'remind 1', 'remind 2', 'remind 3'])

  const now = Date.now() + ahead
  const snooze = { ...channel, event_id, event_time: now, by: 'anna', snooze: '1m' }
  await event.acknowledge(snooze)
  await until(entries, ({ length }) => length === 5)
  const { items } = await event.list({ ...channel, acknowledged: true })
  t.like(items, [{ state: 'open', acknowledged_by: 'anna', snoozed_until: now + MINUTE }])
  t.deepEqual((await event.list({ ...channel, acknowledged: false })).items, [])
  await gateway.end('SIGKILL')

  gateway = await start((ahead += 5 * MINUTE))
  const last = saidBy(await reach(7)).slice(4)
  t.deepEqual(last, ['acknowledge', 'remind 4', 'escalate 2'])
  const kept = await event.get({ ...channel, event_id })
  t.like(kept, { severity: 'critical', state: 'open' })
  t.false('acknowledged_at' in kept)
  await event.acknowledge({ ...channel, event_id, event_time: Date.now() + ahead })
  await event.close({ ...channel, event_id, event_time: Date.now() + ahead })
  await reach(9)
  const late = event.acknowledge({ ...channel, event_id, event_time: Date.now() + ahead })
  const status = await until(
    async () => client.status((await late).op_id),
    ({ status: said }) => said === 'failed',
  )
  t.is(status.error_code, 'event_closed')
  await gateway.end('SIGKILL')
  gateway = await start((ahead += 10 * MINUTE))
  t.is((await entries()).length, 9)
  const polled = await (await subscribe(gateway, channel_id, 'poll=1')).text()
  const told = messagesIn(polled)
  t.like(told[6], { ...notification, message: 'Nobody has it: level 2', priority: 5 })
  t.like(told[7], { ...notification, message: 'Acknowledged', priority: 2 })
  t.deepEqual(
    told.slice(8).map((one) => [one['event'], one['sequence_id']]),
    [['message_clear', event_id]],
  )
  t.is(await gateway.end('SIGTERM'), 0)
})

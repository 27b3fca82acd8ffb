// Goal: a rule fires once and with the time at which it was due, and a Message leaves at its time,
// though the gateway is killed in between and everything stands still for ten minutes. (R1, R3, R4)
// Method: real processes over one directory, one after the other, the later ones with clocks that
// are ahead: ten minutes pass while nothing runs.

import test from 'ava'

import { createClient } from '#src/client/client'
import { TEST_MS } from '#test/support/bounds'
import { createChannels, PASSWORD } from '#test/support/device'
import { freePort } from '#test/support/free-port'
import { aheadBy, startGateway, temporaryFolder, until } from '#test/support/gateway'

const S = 1_000
const MINUTE = 60 * S
/** Long for a start, and far less than any time for which a rule or a Message waits. */
const LATE_MAX = 30 * S

test('R1, R3, R4: a firing survives kill -9 and a stop of ten minutes, once, at its time', async (t) => {
  t.timeout(TEST_MS)
  const directory = await temporaryFolder(t)
  const address = { SERVICE_HTTP_ADDR: `127.0.0.1:${await freePort(t)}` }
  const start = (aheadMs: number) =>
    startGateway(t, { directory, env: { ...address, ...aheadBy(aheadMs) } })
  let gateway = await start(0)
  const [channel_id = ''] = await createChannels(gateway, 1)
  const channel = { channel_id, password: PASSWORD }
  const { rule, thing, event, message, status, ...client } = createClient(gateway)
  const put = (rule_id: string, members: object) =>
    rule.put({ ...channel, rule_id, rule: { things: 'all', ...members } })
  /** The Events in a state once there are so many: title, when it was due, how late it came. */
  const reach = async (state: 'open' | 'closed', count: number) => {
    const list = async () => (await event.list({ ...channel, state })).items
    const events = await until(list, ({ length }) => length === count)
    return events.map(({ title, event_time: due, changed_at: at }) => ({ title, due, at }))
  }
  const entriesOf = async (model: string) =>
    (await client.channel.history({ ...channel, model })).items
  const report = (hot: boolean, observed_at: number) =>
    thing.update({ ...channel, thing_id: 'a', observed_at, attrs: { hot } })

  const later = await message.send({ ...channel, title: 'later', delay: '5m' })
  const taken = await message.send({ ...channel, title: 'taken back', delay: '1h' })
  await put('silent', { when: { silent: '5m' }, event: { title: 'silent' } })
  const when = { attr: 'hot', equals: true }
  await put('hot', { when, for: '1m', event: { title: 'hot' } })
  const observedMs = Date.now()
  await report(true, observedMs)
  await gateway.end('SIGKILL')

  // The time of the rule has come a second after the next process starts.
  const hotMs = observedMs + MINUTE
  gateway = await start(hotMs - S - Date.now())
  const [hot] = await reach('open', 1)
  t.like(hot, { title: 'hot', due: hotMs })
  t.true(hot?.at !== undefined && hot.at >= hotMs && hot.at < hotMs + LATE_MAX)
  await gateway.end('SIGKILL')

  gateway = await start(10 * MINUTE)
  const heardMs = Number((await entriesOf('thing'))[0]?.accepted_at)
  const dues = new Map((await reach('open', 2)).map(({ title, due }) => [title, due]))
  t.deepEqual([dues.get('hot'), dues.get('silent')], [hotMs, heardMs + 5 * MINUTE])
  const sent = await until(
    () => status(later.op_id),
    (operation) => operation.status === 'sent',
  )
  t.is<unknown, unknown>(sent.accepted_at, (await entriesOf('message'))[0]?.accepted_at)
  const late = message.cancel({ ...channel, op_id: later.op_id })
  t.like(await t.throwsAsync(late), { code: 'message_already_sent' })
  t.is((await message.cancel({ ...channel, op_id: taken.op_id })).status, 'cancelled')

  await report(false, observedMs + 9 * MINUTE)
  await reach('closed', 2)
  const actions = (await entriesOf('event')).map(({ action }) => action)
  t.deepEqual(actions.toSorted(), ['close', 'close', 'create', 'create'])
  t.deepEqual(
    (await entriesOf('message')).map(({ op_id }) => op_id),
    [later.op_id],
  )

  const tried = { things: 'all', when, for: '1m', event: { title: 'tried' } }
  const { firings } = await rule.test({ ...channel, rule: tried })
  t.deepEqual(
    firings.map(({ title }) => title),
    ['tried'],
  )
  t.is(await gateway.end('SIGTERM'), 0)
})

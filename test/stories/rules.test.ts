// Goal: a Thing that goes silent opens one Event and closes it, and a Message leaves at its time,
// while the gateway is killed in between and stays away for longer than a deadline. (R1, R3, R4)
// Method: real processes over one directory; kill -9 between the reading and the end of its time.

import { setTimeout as wait } from 'node:timers/promises'

import test from 'ava'

import { createClient } from '#src/client/client'
import { createChannels, PASSWORD } from '#test/support/device'
import { freePort } from '#test/support/free-port'
import { startGateway, temporaryFolder, until } from '#test/support/gateway'

test('R1, R3, R4: a firing survives kill -9 and a stop longer than its deadline, once', async (t) => {
  t.timeout(120_000)
  const directory = await temporaryFolder(t)
  const env = { SERVICE_HTTP_ADDR: `127.0.0.1:${await freePort(t)}` }
  let gateway = await startGateway(t, { directory, env })
  const [channel_id = ''] = await createChannels(gateway, 1)
  const channel = { channel_id, password: PASSWORD }
  const client = createClient({ baseUrl: gateway.baseUrl, token: gateway.token })
  const { rule, thing, event, message } = client
  const put = (rule_id: string, members: object) =>
    rule.put({ ...channel, rule_id, rule: { things: 'all', ...members } })
  const opened = async (state: 'open' | 'closed') =>
    (await event.list({ ...channel, state })).items.map((one) => String(one['title'])).toSorted()
  /** Asks until so many Events are in a state. */
  const reach = async (state: 'open' | 'closed', count: number): Promise<void> => {
    for (let asked = 0; asked < 300; asked += 1) {
      if ((await opened(state)).length === count) return
      await wait(100)
    }
    t.fail(`no ${count} Events are ${state}`)
  }
  const report = (hot: boolean) =>
    thing.update({ ...channel, thing_id: 'a', observed_at: Date.now(), attrs: { hot } })

  const later = await message.send({ ...channel, title: 'later', delay: '10s' })
  const taken = await message.send({ ...channel, title: 'taken back', delay: '10m' })
  await put('silent', { when: { silent: '3s' }, event: { title: 'silent' } })
  const hot = { attr: 'hot', equals: true }
  await put('hot', { when: hot, for: '2s', event: { title: 'hot' } })
  await report(true)
  await gateway.end('SIGKILL')
  gateway = await startGateway(t, { directory, env })
  await reach('open', 2)
  t.deepEqual(await opened('open'), ['hot', 'silent'])
  await gateway.end('SIGKILL')
  gateway = await startGateway(t, { directory, env })
  await report(false)
  await reach('closed', 2)
  t.deepEqual([await opened('open'), await opened('closed')], [[], ['hot', 'silent']])

  t.is((await message.cancel({ ...channel, op_id: taken.op_id })).status, 'cancelled')
  await until(
    () => client.status(later.op_id),
    ({ status }) => status === 'sent',
  )
  const late = message.cancel({ ...channel, op_id: later.op_id })
  t.like(await t.throwsAsync(late), { code: 'message_already_sent' })
  const { items } = await client.channel.history({ ...channel, model: 'message' })
  t.deepEqual(
    items.map(({ op_id }) => op_id),
    [later.op_id],
  )

  const { firings } = await rule.test({
    ...channel,
    rule: { things: 'all', when: hot, for: '2s', event: { title: 'tried' } },
  })
  t.deepEqual(
    firings.map(({ title }) => title),
    ['tried'],
  )
  t.is(await gateway.end('SIGTERM'), 0)
})

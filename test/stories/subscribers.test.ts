// Goal: a channel has 32 subscribers and never one more, however many try at once. (decisions.md 7)

import test from 'ava'

import { createClient } from '#src/client/client'
import { createChannels, PASSWORD } from '#test/support/device'
import { post, startGateway } from '#test/support/gateway'

const ATTEMPTS = 100

test('of 100 devices that subscribe at once 32 do, and the others get the reason', async (t) => {
  const gateway = await startGateway(t)
  const [channel_id = ''] = await createChannels(gateway, 1)
  const client = createClient(gateway)
  const devices = await Promise.all(
    Array.from({ length: ATTEMPTS }, () => client.device.register({ platform: 'linux' })),
  )
  const answers = await Promise.all(
    devices.map(({ device_key }) =>
      post(gateway, '/channel/subscribe', { device_key, channel_id, password: PASSWORD }),
    ),
  )
  const refused = answers.filter(({ status }) => status !== 200)
  t.is(answers.length - refused.length, 32)
  t.deepEqual(
    [...new Set(refused.map(({ status, body }) => `${status} ${body.error_code}`))],
    ['400 channel_subscriber_limit_exceeded'],
  )
  const info = await client.channel.info({ channel_id, password: PASSWORD })
  t.is(info.subscribers, 32)

  const inside = answers.findIndex(({ status }) => status === 200)
  const device_key = devices[inside]?.device_key ?? ''
  const again = { device_key, channel_id, password: PASSWORD }
  t.is((await post(gateway, '/channel/subscribe', again)).status, 200, 'a subscriber may repeat')

  await client.channel.unsubscribe({ device_key, channel_id })
  const outside = devices[answers.findIndex(({ status }) => status === 400)]?.device_key ?? ''
  const late = { device_key: outside, channel_id, password: PASSWORD }
  t.is((await post(gateway, '/channel/subscribe', late)).status, 200, 'a free place is taken')
  t.is((await post(gateway, '/channel/subscribe', again)).status, 400, 'and then it is full again')
})

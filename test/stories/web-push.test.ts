// Goal: a browser gets pushes from a whole gateway, and the gateway keeps its key.
// Method: a gateway process, a stand-in for a push service over https, the SDK.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import test from 'ava'

import { createClient } from '#src/client/client'
import { selfSigned } from '#src/dev/servers/certificate'
import { TEST_MS } from '#test/support/bounds'
import { WebPushServer, subscriptionAt } from '#test/support/web-push-server'
import type { WebPush } from '#test/support/web-push-server'
import { PASSWORD, createChannels } from '#test/support/device'
import { get, startGateway, temporaryFolder, until } from '#test/support/gateway'
import { decrypted } from '#test/support/web-push'

const ENDED = /^(sent|partially_failed|failed)$/

test('a browser that registers its subscription gets pushes until it is gone', async (t) => {
  t.timeout(TEST_MS)
  const directory = await temporaryFolder(t)
  const certificate = selfSigned(['127.0.0.1'], { nowMs: Date.now() })
  await writeFile(join(directory, 'authority.pem'), certificate.certificate)
  const service = await WebPushServer.start({ certificate })
  t.teardown(() => service.close())
  const env = {
    SERVICE_WEBPUSH_SUBJECT: 'mailto:push@gateway.example',
    SERVICE_WEBPUSH_PRIVATE_NETWORKS: '127.0.0.1',
    NODE_EXTRA_CA_CERTS: join(directory, 'authority.pem'),
  }
  const gateway = await startGateway(t, { directory, env })
  const client = createClient(gateway)
  const { public_key } = (await client.profile())['webpush'] as { readonly public_key: string }
  const [channel_id = ''] = await createChannels(gateway, 1)
  const { device_key } = await client.device.register({ platform: 'web' })
  const subscription = service.subscription()
  const routed = await client.device.setSubscription({
    device_key,
    subscription: JSON.parse(subscription.json) as object,
  })
  t.is(routed.channel_type, 'webpush')
  await client.channel.subscribe({ device_key, channel_id, password: PASSWORD })

  const send = async (title: string) => {
    const { op_id } = await client.message.send({ channel_id, password: PASSWORD, title })
    return until(
      () => client.status(op_id),
      ({ status }) => ENDED.test(status),
    )
  }
  const taken: WebPush[] = []
  service.taken = (push) => taken.push(push)
  t.is((await send('first')).status, 'sent')
  const [push] = taken
  t.true(push?.headers.authorization?.endsWith(`k=${public_key}`))
  const document: unknown = push && JSON.parse(decrypted(push, subscription))
  t.like(document, { web_push: 8030, notification: { title: 'first', data: { seq: '1' } } })
  const ready = JSON.stringify((await get(gateway, '/readyz')).body)
  t.true(ready.includes('"webpush"'))

  service.answer = () => ({ status: 410 })
  t.is((await send('second')).status, 'failed')
  await t.throwsAsync(client.device.deleteRoute({ device_key, channel_type: 'webpush' }), {
    message: /another channel_type/,
  })
  const route = (endpoint: string) => {
    const provider_token = subscriptionAt(endpoint).json
    return client.device.setRoute({ device_key, channel_type: 'webpush', provider_token })
  }
  await t.throwsAsync(route('https://169.254.169.254/latest'), { message: /provider_token/ })
  t.false(JSON.stringify(gateway.lines).includes(service.origin()), 'an endpoint is in no log')

  t.is(await gateway.end('SIGTERM'), 0)
  const again = createClient(await startGateway(t, { directory, env }))
  t.deepEqual((await again.profile())['webpush'], { public_key })
})

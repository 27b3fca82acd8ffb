// Goal: devices of Apple and Google get pushes, and the status of each operation tells the truth.
// Method: a whole gateway, the real libraries of both providers, stand-ins for their services.

import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'

import ava from 'ava'
import type { ExecutionContext } from 'ava'

import { createClient } from '#src/client/client'
import type { ApnsPush } from '#src/dev/servers/push/apns-server'
import type { FcmMessage } from '#src/dev/servers/push/fcm-server'
import { TEST_MS } from '#test/support/bounds'
import { PASSWORD, createChannels } from '#test/support/device'
import { figureOf, get, post, temporaryFolder, until } from '#test/support/gateway'
import type { PushServers } from '#src/dev/servers/push/push-servers'
import { addDevice, pushServers, startPushGateway, tokenOf } from '#test/support/push-gateway'

/** One gateway at a time: each test starts its own. */
const test = ava.serial

/** Milliseconds that a busy machine may take for anything, and for a whole test. */

const ENDED = /^(sent|partially_failed|failed)$/

/** A gateway with a channel. */
async function startWithChannel(t: ExecutionContext, servers: PushServers) {
  const gateway = await startPushGateway(t, servers)
  const [channel_id] = await createChannels(gateway, 1)
  if (channel_id === undefined) throw new Error('the gateway made no channel')
  return { gateway, client: createClient(gateway), channel_id }
}

test('a Message goes to devices of both providers, and its operation ends as they did', async (t) => {
  t.timeout(TEST_MS)
  const servers = await pushServers(t)
  const { gateway, client, channel_id } = await startWithChannel(t, servers)
  const apple: ApnsPush[] = []
  const google: FcmMessage[] = []
  servers.apns.taken = (push) => apple.push(push)
  servers.fcm.taken = (message) => google.push(message)
  await addDevice(gateway, [channel_id], { kind: 'apns', number: 1 })
  await addDevice(gateway, [channel_id], { kind: 'fcm', number: 2 })
  const gone = await addDevice(gateway, [channel_id], { kind: 'apns', number: 3 })
  await addDevice(gateway, [channel_id], { kind: 'private', number: 4 })

  const send = async (title: string) => {
    const { op_id } = await client.message.send({ channel_id, password: PASSWORD, title })
    return until(
      () => client.status(op_id),
      ({ status }) => ENDED.test(status),
    )
  }
  t.is((await send('first')).status, 'sent')
  t.deepEqual(apple.map(({ token }) => token).toSorted(), [tokenOf('apns', 1), tokenOf('apns', 3)])
  t.deepEqual(google[0]?.token, tokenOf('fcm', 2))
  t.like(google[0]?.data, { title: 'first', seq: '1', delivery_id: `${channel_id}-1` })

  servers.apns.unregistered.set(tokenOf('apns', 3), Date.now())
  t.is((await send('second')).status, 'partially_failed')
  const again = { device_key: gone, channel_type: 'apns' }
  t.is(
    (await post(gateway, '/channel/device/delete', again)).body.error_code,
    'channel_type_mismatch',
  )
  t.is((await send('third')).status, 'sent')
  t.is(apple.length, 4)
  t.is(await figureOf(gateway, 'heliograph_pushes_total'), 8)
  t.is(await figureOf(gateway, 'heliograph_push_refusals_total'), 1)
  t.is(await gateway.end('SIGTERM'), 0)
})

test('a final refusal of the provider fails the operation, and a retry does not', async (t) => {
  t.timeout(TEST_MS)
  const servers = await pushServers(t)
  const { gateway, client, channel_id } = await startWithChannel(t, servers)
  await addDevice(gateway, [channel_id], { kind: 'apns', number: 1 })
  const send = () => client.message.send({ channel_id, password: PASSWORD, title: 'x' })
  servers.apns.refuse = () => ({ status: 400, reason: 'BadMessageId' })
  const refused = await send()
  const failed = await until(
    () => client.status(refused.op_id),
    ({ status }) => ENDED.test(status),
  )
  t.like(failed, { status: 'failed', error_code: 'push_failed' })

  let refusals = 0
  let isBusy = true
  servers.apns.refuse = () => {
    if (!isBusy) return undefined
    refusals += 1
    return { status: 429, reason: 'TooManyRequests', retryAfter: '1' }
  }
  const deferred = await send()
  const queued = await until(
    () => client.status(deferred.op_id),
    ({ status }) => refusals >= 2 || ENDED.test(status),
  )
  t.is(queued.status, 'provider_queued')
  isBusy = false
  const sent = await until(
    () => client.status(deferred.op_id),
    ({ status }) => ENDED.test(status),
  )
  t.is(sent.status, 'sent')
})

test('refused credentials raise a readiness entry and a metric, and recover by the file', async (t) => {
  t.timeout(TEST_MS)
  const servers = await pushServers(t)
  const keyFile = servers.env['SERVICE_APNS_KEY_FILE'] ?? ''
  const key = readFileSync(keyFile, 'utf8')
  const other = await pushServers(t)
  await writeFile(keyFile, readFileSync(other.env['SERVICE_APNS_KEY_FILE'] ?? '', 'utf8'))
  const { gateway, client, channel_id } = await startWithChannel(t, servers)
  await addDevice(gateway, [channel_id], { kind: 'apns', number: 1 })
  const { op_id } = await client.message.send({ channel_id, password: PASSWORD, title: 'x' })
  await until(
    () => figureOf(gateway, 'heliograph_push_credentials_refused'),
    (figure) => figure === 1,
  )
  const { status, body } = await until(
    () => get(gateway, '/readyz'),
    (answer) => JSON.stringify(answer.body).includes('InvalidProviderToken'),
  )
  t.is(status, 200, 'the gateway itself is ready')
  t.true(JSON.stringify(body).includes('refuses the credentials'))
  t.is((await client.status(op_id)).status, 'provider_queued')

  await writeFile(keyFile, key)
  const ended = await until(
    () => client.status(op_id),
    ({ status: now }) => ENDED.test(now),
  )
  t.is(ended.status, 'sent')
  t.is(await figureOf(gateway, 'heliograph_push_credentials_refused'), 0)
})

test('without a provider there is no dispatch, and no job for devices that have one', async (t) => {
  t.timeout(TEST_MS)
  const servers = await pushServers(t)
  const { gateway, client, channel_id } = await startWithChannel(t, { ...servers, env: {} })
  await addDevice(gateway, [channel_id], { kind: 'apns', number: 1 })
  const { op_id } = await client.message.send({ channel_id, password: PASSWORD, title: 'x' })
  const ended = await until(
    () => client.status(op_id),
    ({ status }) => ENDED.test(status),
  )
  t.is(ended.status, 'sent')
  t.false(gateway.lines.some(({ thread }) => thread === 'dispatch'))
  t.is(servers.apns.requests, 0)
})

test('credentials that cannot be used stop the start with a sentence', async (t) => {
  t.timeout(TEST_MS)
  const servers = await pushServers(t)
  const folder = await temporaryFolder(t)
  await writeFile(`${folder}/bad.p8`, 'no key')
  const env = { SERVICE_APNS_KEY_FILE: `${folder}/bad.p8` }
  const error = await t.throwsAsync(startPushGateway(t, servers, { env }))
  t.regex(error?.message ?? '', /SERVICE_APNS_KEY_FILE names .*bad\.p8, which is not a \.p8 file/)
  t.true(existsSync(`${folder}/bad.p8`))
})

// Endpoints are addresses of strangers: which of them get a push.

import test from 'ava'

import { subscriptionAt } from '#test/support/web-push-server'
import { isPublicAddress } from '#src/outbound/address-guard'
import { endpointProblem } from '#src/providers/webpush/endpoint'
import { webPushBench, webPushOf } from '#test/support/web-push'

const FORBIDDEN = { kind: 'rejected', reason: 'address-not-allowed' } as const
const PUBLIC = '93.184.216.34'

// Each row has an endpoint, and the addresses of its name. {port} is a service on the loopback.
const HOSTILE: readonly (readonly [endpoint: string, addresses: readonly string[]])[] = [
  ['https://127.0.0.1:{port}/1', []],
  ['https://127.0.0.1/1', []],
  ['https://2130706433/1', []],
  ['https://0x7f.1/1', []],
  ['https://[::1]:{port}/1', []],
  ['https://[::ffff:127.0.0.1]/1', []],
  ['https://10.0.0.1/1', []],
  ['https://169.254.169.254/latest', []],
  ['http://127.0.0.1:{port}/1', []],
  [`http://${PUBLIC}/1`, []],
  [`https://${PUBLIC}:8443/1`, []],
  ['https://push.example/1', ['127.0.0.1']],
  ['https://push.example/1', [PUBLIC, '127.0.0.1']],
  ['https://push.example/1', ['fd00::1']],
  ['https://push.example:{port}/1', ['127.0.0.1']],
  ['https://push.example:8443/1', [PUBLIC]],
  ['http://push.example/1', [PUBLIC]],
]

test('webpush-connector/1: without a setting a push goes by https to port 443 of public addresses only', async (t) => {
  let addresses: readonly string[] = []
  const resolve = () => Promise.resolve(addresses)
  const { service, provider } = await webPushBench(t, { privateNetworks: [], resolve })
  for (const [endpoint, found] of HOSTILE) {
    addresses = found
    const push = webPushOf(subscriptionAt(endpoint.replace('{port}', String(service.port))))
    t.deepEqual(await provider.send(push), FORBIDDEN, `${endpoint} ${found.join()}`)
  }
  t.is(service.connections, 0)
})

test('webpush-connector/1: a network of the settings is reached on any port, over http too', async (t) => {
  const resolve = () => Promise.resolve(['127.0.0.1'])
  for (const isHttp of [undefined, true] as const) {
    const how = isHttp === undefined ? {} : { isHttp }
    const { service, provider } = await webPushBench(t, { ...how, resolve })
    for (const host of ['127.0.0.1', 'localhost']) {
      const push = webPushOf(subscriptionAt(`${service.origin(host)}/1`))
      t.deepEqual(await provider.send(push), { kind: 'delivered' })
    }
    const other = subscriptionAt('https://10.0.0.1/1')
    t.deepEqual(await provider.send(webPushOf(other)), FORBIDDEN)
    const elsewhere = await webPushBench(t, { ...how, privateNetworks: ['127.0.0.2/32'], resolve })
    t.deepEqual(await elsewhere.provider.send(webPushOf(service.subscription())), FORBIDDEN)
  }
})

test('webpush-connector/1: a name that changes its address is compared at each connection', async (t) => {
  let address = '127.0.0.2'
  const resolve = () => Promise.resolve([address])
  const options = { privateNetworks: ['127.0.0.2/32'], resolve, host: '0.0.0.0' }
  const { service, provider } = await webPushBench(t, options)
  const subscription = service.subscription(`${service.origin('localhost')}/1`)
  t.deepEqual(await provider.send(webPushOf(subscription)), { kind: 'delivered' })
  address = '127.0.0.1'
  service.breakConnections()
  let outcome = await provider.send(webPushOf(subscription))
  // A push may still meet the end of the connection.
  if (outcome.kind === 'deferred') outcome = await provider.send(webPushOf(subscription))
  t.deepEqual(outcome, FORBIDDEN)
  t.is(service.requests, 1)
})

// Each row has an endpoint, and whether it can be registered without and with a private network.
const REGISTERED: readonly (readonly [endpoint: string, without: boolean, within: boolean])[] = [
  ['https://push.example/1', true, true],
  [`https://${PUBLIC}/1`, true, true],
  ['https://push.example:8443/1', false, true],
  ['http://push.example/1', false, true],
  ['http://10.1.2.3:8080/1', false, true],
  ['https://127.0.0.1/1', false, false],
  ['https://[::1]/1', false, false],
  [`http://${PUBLIC}/1`, false, false],
]

test('an endpoint that shows by itself that no push can reach it is refused at once', (t) => {
  for (const [endpoint, without, within] of REGISTERED) {
    const problemOf = (privateNetworks: readonly string[]) =>
      endpointProblem(subscriptionAt(endpoint).json, { privateNetworks }, isPublicAddress)
    t.is(problemOf([]) === undefined, without, endpoint)
    t.is(problemOf(['10.0.0.0/8']) === undefined, within, endpoint)
    t.notRegex(problemOf([]) ?? '', /example|127/)
  }
})

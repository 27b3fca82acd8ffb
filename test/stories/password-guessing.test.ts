// Goal: whoever guesses passwords takes no room of senders with the right one. Each attack guesses
// for a minute, 20 passwords a second, from as many addresses as its network has; the sender's
// address is its own and the gateway has seen its password before.

import test from 'ava'

import { CREDENTIALS } from '#test/support/making'
import { startStyles } from '#test/support/compatibility-rig'
import { startIngress } from '#test/support/start-ingress'
import { quickDerive } from '#test/support/acceptance-rig'
import type { Rig } from '#test/support/start-ingress'

const OPTIONS = {
  trustedProxies: ['127.0.0.0/8'],
  passwordBudget: { perAddress: 60, total: 1_200 },
}
const SENDER = '198.51.100.7'
const GUESSES_A_SECOND = 20

const attacks: readonly (readonly [
  network: string,
  addressOf: (number: number) => string,
  tried: number,
])[] = [
  ['one /59', (number) => `2001:db8:0:${(number % 32).toString(16)}::${number.toString(16)}`, 120],
  ['one /48', (number) => `2001:db8:0:${((number % 64) << 8).toString(16)}::1`, 240],
  ['many networks', (number) => `203.0.${number % 100}.1`, 600],
]

function guess(rig: Rig, number: number, address: string): Promise<number> {
  const body = { ...CREDENTIALS, password: `a guess ${number}`, title: 'x' }
  return rig.post('/message', body, { 'x-forwarded-for': address }).then(({ status }) => status)
}

for (const [network, addressOf, tried] of attacks) {
  test(`attempt/1: 20 wrong passwords a second from ${network} silence no sender; ${tried} of them are tried`, async (t) => {
    let computed = 0
    const rig = await startIngress(t, {
      ...OPTIONS,
      derive: (...derived) => {
        computed += 1
        return quickDerive(...derived)
      },
    })
    const send = async (): Promise<number> =>
      (await rig.post('/message', { ...CREDENTIALS, title: 'x' }, { 'x-forwarded-for': SENDER }))
        .status
    t.is(await send(), 200)
    rig.time.advance(60_000)
    const statuses: number[] = []
    for (let second = 0; second < 60; second += 1) {
      const numbers = Array.from({ length: GUESSES_A_SECOND }, (_, at) => second * 20 + at)
      statuses.push(
        ...(await Promise.all(numbers.map((number) => guess(rig, number, addressOf(number))))),
      )
      t.is(await send(), 200)
      rig.time.advance(999)
    }
    t.is(computed, tried + 1)
    t.is(statuses.filter((status) => status === 404).length, tried)
    t.is(statuses.filter((status) => status === 429).length, statuses.length - tried)
  })
}

test('a new sender whose password was proved once is not kept out by the guesses that follow', async (t) => {
  const rig = await startIngress(t, OPTIONS)
  const sends = (): Promise<{ readonly status: number }> =>
    rig.post('/message', { ...CREDENTIALS, title: 'x' }, { 'x-forwarded-for': SENDER })
  for (let number = 0; number < 599; number += 1) await guess(rig, number, `203.0.${number % 90}.1`)
  t.is((await sends()).status, 200) // The last share of guesses, which it gives back.
  t.is(await guess(rig, 600, '203.0.99.1'), 404)
  t.is(await guess(rig, 601, '203.0.99.1'), 429)
  t.is((await sends()).status, 200)
})

test('attempt/2: readers with a device key and senders with a channel key go on while passwords are guessed', async (t) => {
  const rig = await startStyles(t, OPTIONS)
  const made = await rig.acceptance.keys.create(CREDENTIALS, { receivedAtMs: 0 })
  const headers = { 'x-forwarded-for': SENDER }
  const { json } = await rig.post('/device/register', { platform: 'web' }, headers)
  const { device_key } = json['data'] as { readonly device_key: string }
  const subscribed = await rig.post('/channel/subscribe', { ...CREDENTIALS, device_key }, headers)
  t.is(subscribed.status, 200)
  for (let number = 0; number < 600; number += 1) await guess(rig, number, `203.0.${number % 90}.1`)
  t.is(await guess(rig, 601, '203.0.99.1'), 429)
  const { channel_id } = CREDENTIALS
  t.is((await rig.post('/thing/list', { device_key, channel_id }, headers)).status, 200)
  const key = 'key' in made ? made.key : ''
  const sent = await rig.get(`/compat-sendkey/${key}.send?title=x`, headers)
  t.like(sent.json, { code: 0 })
})

test('pipeline/4: requests without a password count as guesses, and take no room of senders either', async (t) => {
  const rig = await startIngress(t, OPTIONS)
  const headers = { 'x-forwarded-for': SENDER }
  const send = () => rig.post('/message', { ...CREDENTIALS, title: 'x' }, headers)
  t.is((await send()).status, 200)
  const statuses: number[] = []
  for (let number = 0; number < 700; number += 1) {
    const from = { 'x-forwarded-for': `203.0.${number % 90}.1` }
    statuses.push((await rig.post('/message', number % 2 === 0 ? {} : [], from)).status)
  }
  t.is(statuses.filter((status) => status === 400).length, 600)
  t.is(statuses.filter((status) => status === 429).length, 100)
  t.is((await send()).status, 200)
})

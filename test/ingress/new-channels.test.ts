// Goal: a new channel costs its maker what one guess costs.

import test from 'ava'

import { startIngress } from '#test/support/start-ingress'

test('a new channel takes one share of the password budget', async (t) => {
  const rig = await startIngress(t, { passwordBudget: { perAddress: 3, total: 100 } })
  const statuses: number[] = []
  for (let count = 0; count < 4; count += 1) {
    const wish = { channel_name: `n${count}`, password: 'a password' }
    statuses.push((await rig.post('/channel/create', wish)).status)
  }
  t.deepEqual(statuses, [200, 200, 200, 429])
})

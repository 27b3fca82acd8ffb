// Goal: a 200 means kept, whatever moment the process is killed at. (W1, W2, W9)
// Method: senders and a watching device, kill -9 after a seeded number of answers, of a process and of
// the one that replays what it left; then the audit: every 200 is exactly one operation, effect and
// feed entry, and the device misses nothing. The simulator draws the moments by the thousand.

import test from 'ava'

import { TEST_MS } from '#test/support/bounds'
import { audit } from '#test/support/audit'
import { createChannels, watchingDevice } from '#test/support/device'
import { freePort } from '#test/support/free-port'
import { startGateway, temporaryFolder } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'
import { drive, sender } from '#test/support/load'
import type { Outcome } from '#test/support/load'
import { mixedLoad } from '#test/support/mixed-load'
import { seeded } from '#test/support/random'

const KILLS = 2
const WIDTH = 24

/** Sends until so many were answered 200, then kills without warning. */
async function loadUntilKilled(
  gateway: Gateway,
  next: ReturnType<typeof mixedLoad>,
  answers: number,
): Promise<readonly Outcome[]> {
  const submitting = sender(gateway.baseUrl, gateway.token, WIDTH)
  let answered = 0
  let ended: Promise<unknown> | undefined
  const counting = {
    ...submitting,
    send: async (submission: ReturnType<typeof next>) => {
      const told = await submitting.send(submission)
      if (told.kind === 'accepted') answered += 1
      if (answered === answers) ended ??= gateway.end('SIGKILL')
      return told
    },
  }
  const outcomes = await drive(counting, WIDTH, () => (ended === undefined ? next() : undefined))
  await ended
  submitting.close()
  return outcomes
}

test('W1 W2: after kill -9 at two seeded moments every 200 has had exactly one effect', async (t) => {
  t.timeout(TEST_MS)
  const seed = Number(process.env['TEST_SEED'] ?? 20_261_120)
  t.log(`TEST_SEED=${seed}`)
  const random = seeded(seed)
  const directory = await temporaryFolder(t)
  const env = { SERVICE_HTTP_ADDR: `127.0.0.1:${await freePort(t)}`, SERVICE_LANES: '5' }
  let gateway = await startGateway(t, { directory, env })
  const channels = await createChannels(gateway, 6)
  const device = await watchingDevice(t, gateway, channels)
  const next = mixedLoad(channels, random)
  const outcomes: Outcome[] = []
  for (let kill = 0; kill < KILLS; kill += 1) {
    outcomes.push(...(await loadUntilKilled(gateway, next, 20 + random(300))))
    gateway = await startGateway(t, { directory, env })
  }
  await audit(t, { gateway, channels, outcomes, device })
  t.is(await gateway.end('SIGTERM'), 0)
})

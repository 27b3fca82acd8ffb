// Goal: SIGTERM under load answers every request that was taken, applies it, and ends with 0.

import test from 'ava'

import { TEST_MS } from '#test/support/bounds'
import { audit } from '#test/support/audit'
import { createChannels, watchingDevice } from '#test/support/device'
import { startGateway, temporaryFolder } from '#test/support/gateway'
import { drive, sender } from '#test/support/load'
import type { Outcome } from '#test/support/load'
import { mixedLoad } from '#test/support/mixed-load'
import { seeded } from '#test/support/random'

const WIDTH = 32
const ANSWERS_BEFORE_STOP = 400

test('SIGTERM under load answers every request that was taken; a second one changes nothing', async (t) => {
  t.timeout(TEST_MS)
  const directory = await temporaryFolder(t)
  const gateway = await startGateway(t, { directory })
  const channels = await createChannels(gateway, 4)
  const device = await watchingDevice(t, gateway, channels)
  const next = mixedLoad(channels, seeded(7))
  const submitting = sender(gateway.baseUrl, gateway.token, WIDTH)
  let accepted = 0
  let ended: Promise<number | NodeJS.Signals> | undefined
  let isOver = false
  const counting = {
    ...submitting,
    send: async (submission: ReturnType<typeof next>) => {
      const told = await submitting.send(submission)
      if (told.kind === 'accepted') accepted += 1
      if (accepted === ANSWERS_BEFORE_STOP) {
        ended ??= gateway.end('SIGTERM').finally(() => (isOver = true))
      }
      return told
    },
  }
  const outcomes: readonly Outcome[] = await drive(counting, WIDTH, () =>
    isOver ? undefined : next(),
  )
  t.is(await ended, 0)
  submitting.close()
  await device.watch.close()

  const refused = outcomes.flatMap(({ told }) => (told.kind === 'refused' ? [told] : []))
  t.deepEqual(
    refused.filter(({ status }) => status !== 503),
    [],
    'what was not taken was told so',
  )
  const again = await startGateway(t, { directory })
  // What got no answer must not be in the log, so that the audit finds it if it is.
  const answered = outcomes.filter(({ told }) => told.kind !== 'unknown')
  await audit(t, { gateway: again, channels, outcomes: answered })
  t.true(gateway.lines.some(({ fact }) => fact === 'stopped'))
  again.process.kill('SIGTERM')
  t.is(await again.end('SIGTERM'), 0)
})

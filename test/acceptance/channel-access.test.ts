// Goal: a channel opens because a check says so, and for no other reason.

import test from 'ava'

import { parseDeviceKey } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { isRecord } from '#domain/record'
import { CHECKS } from '#src/acceptance/access-checks'
import type { Named } from '#src/acceptance/access-checks'
import { ChannelAccess } from '#src/acceptance/channel-access'
import { readCredentials } from '#src/schemas/values'
import { Credentials } from '#src/acceptance/credentials'
import { KeyUses } from '#src/acceptance/key-uses'
import { KnownKeys } from '#src/acceptance/known-keys'
import { acceptanceRig, passwordWorkFor } from '#test/support/acceptance-rig'
import { CREDENTIALS, DEVICE_KEY, NOW_MS } from '#test/support/making'
import { addKey } from '#test/support/mqtt-rig'

/** The means that open a channel, by the fields and the grant that are shown. */
const MEANS = ['password', 'key', 'device key', 'grant'] as const

for (const means of MEANS) {
  test(`access-checks/3: without a check of it no ${means} opens a channel`, async (t) => {
    const rig = await acceptanceRig()
    const { channels, channelKeys, channelId, time } = rig
    const { monotonicMs, nowMs } = time
    const work = passwordWorkFor(channels)
    const ports = {
      credentials: new Credentials({ ...rig, work, monotonicMs, timers: time }),
      keys: new KnownKeys({ channelKeys, monotonicMs }),
      uses: new KeyUses({ channelKeys, nowMs, timers: time }),
      channels,
      subscriptions: { subscribed: async () => ({}) },
      refusals: { note: () => {} },
      nowMs,
    }
    const key = await addKey(rig)
    const fields = means === 'key' ? { password: key } : CREDENTIALS
    const grant = { channels: new Set([channelId]) }
    const caller = { receivedAtMs: NOW_MS, ...(means === 'grant' && { grant }) }
    const deviceKey = parseDeviceKey(DEVICE_KEY)
    const read = (sent: unknown): Answer<Named> =>
      means === 'device key' && deviceKey !== undefined
        ? { channelId, deviceKey }
        : readCredentials(isRecord(sent) ? sent : {})
    const openedBy = async (checks: typeof CHECKS) =>
      new ChannelAccess(ports, checks).open({ fields, caller, read })
    t.like(await openedBy(CHECKS), { channelId })
    const without = CHECKS.filter(({ of }) => of.length > 1 || of[0] !== means)
    t.true(without.length < CHECKS.length)
    await t.throwsAsync(openedBy(without))
  })
}

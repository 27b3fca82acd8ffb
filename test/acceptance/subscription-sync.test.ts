// Goal: a device that comes with all its channels for the first time waits for its passwords, not for
// its channels.

import test from 'ava'

import { isFault } from '#domain/fault'
import { channelIdFromBytes } from '#domain/identity'
import type { Caller } from '#src/acceptance/caller'
import { acceptanceRig, addChannel, quickDerive } from '#test/support/acceptance-rig'
import { NOW_MS } from '#test/support/making'

const CALLER: Caller = { receivedAtMs: NOW_MS }
const CHANNELS = 2_000
const PASSWORDS = ['the first password', 'the second password', 'the third password'] as const

function idOf(number: number): string {
  const bytes = Buffer.alloc(16)
  bytes.writeUInt32BE(number)
  return channelIdFromBytes(bytes)
}

test('password-work/2: a first sync of 2,000 channels computes each password once', async (t) => {
  const computed: string[] = []
  const rig = await acceptanceRig({
    derive: (password, salt, parameters) => {
      computed.push(password)
      return quickDerive(password, salt, parameters)
    },
  })
  const channels: { readonly channel_id: string; readonly password: string }[] = []
  for (let number = 0; number < CHANNELS; number += 1) {
    const password = PASSWORDS[number % PASSWORDS.length] ?? ''
    await addChannel(rig.channels, idOf(number), password)
    channels.push({ channel_id: idOf(number), password })
  }
  // One that does not exist, and one with the password of others.
  channels.push({ channel_id: idOf(CHANNELS), password: PASSWORDS[0] })
  channels[7] = { channel_id: idOf(7), password: PASSWORDS[0] }
  const device = await rig.acceptance.devices.register({ platform: 'web' }, CALLER)
  if (isFault(device)) return t.fail()
  const fields = { device_key: device.deviceKey, channels: channels.slice(1) }
  const synchronised = await rig.acceptance.subscriptions.synchronise(fields, CALLER)
  if (isFault(synchronised)) return t.fail()
  const refused = synchronised.items.filter(({ outcome }) => isFault(outcome))
  t.is(synchronised.items.length, CHANNELS)
  t.deepEqual(
    refused.map(({ channelIdText }) => channelIdText),
    [idOf(7), idOf(CHANNELS)],
  )
  t.deepEqual(computed.toSorted(), [...PASSWORDS].toSorted())
})

// The door of MQTT over the acceptance stage, without sockets. Time passes when the test turns it.

import type { ExecutionContext } from 'ava'

import type { KeyRights } from '#domain/channel-keys'
import type { Runtime } from '#domain/runtime'
import { keyHashOf } from '#src/acceptance/known-keys'
import { MqttDoor } from '#src/mqtt/door'
import { acceptanceRig } from '#test/support/acceptance-rig'
import type { AcceptanceRig, AcceptanceRigOptions } from '#test/support/acceptance-rig'
import { realRuntime } from '#test/support/real-runtime'

export interface MqttRig extends AcceptanceRig {
  readonly door: MqttDoor
  /** Milliseconds pass, and what was due has run. */
  readonly pass: (ms: number) => void
}

export async function mqttRig(
  t: ExecutionContext,
  options: AcceptanceRigOptions & { readonly isOpen?: () => boolean } = {},
): Promise<MqttRig> {
  const rig = await acceptanceRig(options)
  const { time, acceptance, bus, meter, logger } = rig
  const repeats = new Set<() => void>()
  const runtime: Runtime = {
    ...realRuntime,
    nowMs: time.nowMs,
    monotonicMs: time.monotonicMs,
    after: time.after,
    wait: (ms) => new Promise((resolve) => void time.after(ms, resolve)),
    every: (_, callback) => {
      repeats.add(callback)
      return () => repeats.delete(callback)
    },
  }
  const door = new MqttDoor(
    {
      acceptance,
      bus,
      runtime,
      meter,
      logger,
      isOpen: options.isOpen ?? (() => true),
      read: rig.reads,
      channels: rig.channels,
    },
    { keysOnly: (options.token ?? '') !== '' },
  )
  t.teardown(() => door.close())
  const pass = (ms: number): void => {
    time.advance(ms)
    for (const callback of repeats) callback()
  }
  return { ...rig, door, pass }
}

/** Makes a key of the channel, which may send and read. */
export async function addKey(
  { channels, channelKeys, channelId }: AcceptanceRig,
  rights: Partial<KeyRights> = {},
): Promise<string> {
  const keyId = String(channelKeys.rows.length + 1)
  const key = keyId.padStart(43, 'k')
  const passwordHash = channels.rows.get(channelId)?.passwordHash ?? ''
  await channelKeys.create({
    keyId,
    channelId,
    passwordHash,
    keyHash: keyHashOf(key),
    label: '',
    createdAt: 0,
    scopes: ['send', 'read'],
    thingPrefix: '',
    expiresAt: 0,
    ...rights,
  })
  return key
}
